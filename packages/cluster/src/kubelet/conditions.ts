// SPDX-License-Identifier: Apache-2.0

import type { Stored } from '@grove/kube'
import type { Pod } from '../controllers/kinds.ts'
import type { PodCondition } from '../schema/types.generated.ts'
import type { SimulatedContainer } from './container.ts'
import type { SimulatedPod } from './simulated-pod.ts'

interface Verdict {
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

interface Reason {
  readonly reason?: string | null
  readonly message?: string | null
}

/** A condition in a patch of the status, where null removes a field. */
export type ConditionPatch = Omit<PodCondition, keyof Reason> & Reason

const yes: Verdict = { status: 'True' }

/** The conditions of the kubelet, in its order. lastTransitionTime changes only with the status. */
export function podConditions(
  simulated: SimulatedPod,
  pod: Stored<Pod>,
  phase: string,
  now: string,
): ConditionPatch[] {
  const containers = containersReady(simulated, phase)
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const verdicts: readonly (readonly [string, Verdict])[] = [
    ['PodReadyToStartContainers', { status: simulated.hasNetwork && !simulated.outcome ? 'True' : 'False' }],
    ['Initialized', initialized(simulated, phase)],
    ['Ready', ready(containers, pod)],
    ['ContainersReady', containers],
    ...(scheduled?.status === 'True' ? [] : [['PodScheduled', yes] as const]),
  ]
  return verdicts.map(([type, verdict]) => condition(type, verdict, pod, now))
}

function condition(type: string, verdict: Verdict, pod: Stored<Pod>, now: string): ConditionPatch {
  const old = pod.status?.conditions?.find(each => each.type === type)
  return {
    type,
    observedGeneration: pod.metadata.generation,
    status: verdict.status,
    lastProbeTime: null,
    lastTransitionTime: old?.status === verdict.status ? (old.lastTransitionTime ?? now) : now,
    ...reasonOf(verdict, old),
  }
}

/** A strategic merge patch keeps omitted fields, so null removes an old reason or message. */
function reasonOf({ reason, message }: Verdict, old: PodCondition | undefined): Reason {
  return {
    ...(reason !== undefined ? { reason } : old?.reason !== undefined && { reason: null }),
    ...(message !== undefined ? { message } : old?.message !== undefined && { message: null }),
  }
}

function initialized(simulated: SimulatedPod, phase: string): Verdict {
  if (phase === 'Succeeded') return { ...yes, reason: 'PodCompleted' }
  if (simulated.initialized) return yes
  const waiting = simulated.initial.filter(
    ({ kind, phase, hasStarted }) =>
      !(kind === 'sidecar' ? hasStarted : phase.is === 'ended' && phase.exitCode === 0),
  )
  return {
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${names(waiting)}]`,
  }
}

function containersReady(simulated: SimulatedPod, phase: string): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  const serving = [...simulated.initial.filter(({ kind }) => kind === 'sidecar'), ...simulated.main]
  const unready = serving.filter(container => !container.ready)
  if (unready.length === 0) return yes
  return {
    status: 'False',
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${names(unready)}]`,
  }
}

/** Ready if all containers are ready and all readiness gates are true. */
function ready(containers: Verdict, pod: Stored<Pod>): Verdict {
  if (containers.status === 'False') return containers
  const missing: string[] = []
  for (const { conditionType = '' } of pod.spec?.readinessGates ?? []) {
    const gate = pod.status?.conditions?.find(({ type }) => type === conditionType)
    const about = `corresponding condition of pod readiness gate "${conditionType}"`
    if (!gate) missing.push(`${about} does not exist.`)
    else if (gate.status !== 'True')
      missing.push(`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`)
  }
  return missing.length
    ? { status: 'False', reason: 'ReadinessGatesNotReady', message: missing.join(', ') }
    : yes
}

function names(containers: readonly SimulatedContainer[]): string {
  return containers.map(({ name }) => name).join(' ')
}
