// SPDX-License-Identifier: Apache-2.0

import { createHash } from 'node:crypto'
import type { Stored } from '@grove/kube'
import type { Pod } from '../controllers/kinds.ts'
import { timestamp } from '../controllers/timestamp.ts'
import { qualityOfService } from '../scheduling/resources.ts'
import type { ContainerState, ContainerStatus, PodStatus } from '../schema/types.generated.ts'
import { type ConditionPatch, podConditions } from './conditions.ts'
import type { Ended, SimulatedContainer } from './container.ts'
import type { SimulatedPod } from './simulated-pod.ts'

export interface Addresses {
  readonly podIP: string
  readonly hostIP: string
}

/** The part of a pod's status that the kubelet patches. */
export type StatusPatch = Omit<PodStatus, 'conditions'> & { readonly conditions: readonly ConditionPatch[] }

/** Returns the status that a kubelet would write. Conditions of other controllers are omitted. */
export function podStatus(
  simulated: SimulatedPod,
  pod: Stored<Pod>,
  { podIP, hostIP }: Addresses,
  now: number,
): StatusPatch {
  const address = simulated.hasNetwork ? podIP : undefined
  const phase = podPhase(simulated)
  return {
    observedGeneration: pod.metadata.generation,
    phase,
    ...simulated.failure,
    conditions: podConditions(simulated, pod, phase, timestamp(now)),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(address && { podIP: address, podIPs: [{ ip: address }] }),
    startTime: timestamp(simulated.admittedAt),
    ...(simulated.initial.length && {
      initContainerStatuses: simulated.initial.map(container => containerStatus(container, simulated.uid)),
    }),
    containerStatuses: simulated.main.map(container => containerStatus(container, simulated.uid)),
    qosClass: pod.status?.qosClass ?? qualityOfService(pod.spec),
  }
}

function podPhase(simulated: SimulatedPod): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  if (simulated.outcome) return simulated.outcome
  if (!simulated.initialized || simulated.main.some(({ hasStarted }) => !hasStarted)) return 'Pending'
  return 'Running'
}

function containerStatus(container: SimulatedContainer, podUid: string): ContainerStatus {
  const { name, phase, last, restarts, spec } = container
  const image = spec.image ?? ''
  const started = phase.is === 'running'
  return {
    name,
    state: stateOf(container, podUid),
    lastState:
      last && phase !== last ? { terminated: terminated(last, containerId(podUid, name, restarts - 1)) } : {},
    ready: container.ready,
    restartCount: restarts,
    image,
    imageID: container.hasStarted ? imageId(image) : '',
    ...(container.hasStarted && { containerID: containerId(podUid, name, restarts) }),
    started: container.kind === 'init' ? false : started,
  }
}

function stateOf({ name, phase, restarts }: SimulatedContainer, podUid: string): ContainerState {
  switch (phase.is) {
    case 'waiting':
      return { waiting: { reason: phase.reason, ...(phase.message && { message: phase.message }) } }
    case 'running':
      return { running: { startedAt: timestamp(phase.startedAt) } }
    case 'ended':
      return { terminated: terminated(phase, containerId(podUid, name, restarts)) }
  }
}

function terminated({ exitCode, startedAt, finishedAt, message }: Ended, containerID: string) {
  return {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    ...(message && { message }),
    startedAt: timestamp(startedAt),
    finishedAt: timestamp(finishedAt),
    containerID,
  }
}

function containerId(podUid: string, name: string, restarts: number): string {
  return `containerd://${createHash('sha256').update(`${podUid}/${name}/${restarts}`).digest('hex')}`
}

/** A cache, because many containers use few images. */
const imageIds = new Map<string, string>()
const rememberedImages = 1_000

function imageId(image: string): string {
  let id = imageIds.get(image)
  if (id === undefined) {
    if (imageIds.size >= rememberedImages) imageIds.clear()
    const repository = image.replace(/@.*$/, '').replace(/:[^:/]+$/, '')
    id = `${repository}@sha256:${createHash('sha256').update(image).digest('hex')}`
    imageIds.set(image, id)
  }
  return id
}
