// SPDX-License-Identifier: Apache-2.0

// Reduces objects to the fields that the dashboard shows. With thousands of pods the other fields would only cost
// memory.
import {
  label,
  type Node,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSet,
  type PodGang,
  waiter,
} from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { holdsResources, podRequests, readAmounts } from '@grove/scheduler'
import type { StoredEvent } from './resources.ts'

/** Amounts by the name of the device resource, such as nvidia.com/gpu. */
export type Devices = Readonly<Record<string, number>>

export type CachedPod = Stored<Pod> & { readonly devices?: Devices }
export type CachedNode = Stored<Node> & { readonly devices: Devices }

/** Longer messages are truncated. Some runtimes put whole logs into a status. */
const longestMessage = 1_000

const podLabels = [label.partOf, label.podClique, label.podGang, label.basePodGang, label.podIndex]

/** Reports whether the name is that of an extended resource, which device plugins offer. */
export function isDevice(name: string): boolean {
  return name.includes('/') && !/^([^/]*\.)?kubernetes\.io\//.test(name)
}

/** Pods that are not part of a set are kept only for their devices. */
export function projectPod(pod: Stored<Pod>): CachedPod {
  const { metadata, spec, status } = pod
  const devices = holdsResources(pod) ? onlyDevices(podRequests(spec)) : undefined
  const isMember = metadata.labels?.[label.podClique] !== undefined
  const common = {
    apiVersion: 'v1' as const,
    kind: 'Pod' as const,
    metadata: {
      ...identityOf(metadata),
      labels: isMember ? picked(metadata.labels, podLabels) : {},
    },
    ...(devices && { devices }),
  }
  const nodeName = spec?.nodeName && { nodeName: spec.nodeName }
  if (!isMember) return { ...common, spec: { containers: [], ...nodeName } } as CachedPod
  const isReady = conditionOf(status, 'Ready')?.status === 'True'
  return {
    ...common,
    spec: {
      containers: [],
      ...nodeName,
      ...(spec?.schedulingGates?.length && { schedulingGates: spec.schedulingGates }),
      ...(!isReady && { initContainers: (spec?.initContainers ?? []).map(projectInitContainer) }),
    },
    status: {
      phase: status?.phase,
      conditions: (status?.conditions ?? [])
        .filter(({ type }) => type === 'Ready' || type === 'PodScheduled')
        .map(({ type, status: state, reason, message }) => ({
          type,
          status: state,
          ...(reason && { reason }),
          ...(message && state !== 'True' && { message: cut(message) }),
        })),
      ...(status?.reason && { reason: status.reason }),
      ...(status?.message && { message: cut(status.message) }),
      containerStatuses: (status?.containerStatuses ?? []).map(each => projectContainer(each, isReady)),
      ...(!isReady && {
        initContainerStatuses: (status?.initContainerStatuses ?? []).map(each =>
          projectContainer(each, false),
        ),
      }),
    },
  } as unknown as CachedPod
}

type InitContainer = NonNullable<NonNullable<Pod['spec']>['initContainers']>[number]
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

function projectInitContainer({ name, restartPolicy, args }: InitContainer): object {
  return {
    name,
    ...(restartPolicy && { restartPolicy }),
    // The arguments of the waiter name the cliques that the pod starts after.
    ...(name === waiter.containerName && args && { args }),
  }
}

function projectContainer({ name, image, started, restartCount, state }: ContainerStatus, isReady: boolean) {
  if (isReady) return { name, restartCount }
  const { waiting, terminated } = state ?? {}
  return {
    name,
    restartCount,
    ...(started !== undefined && { started }),
    ...(waiting && {
      image,
      state: { waiting: { ...waiting, ...(waiting.message && { message: cut(waiting.message) }) } },
    }),
    ...(terminated && { state: { terminated: { exitCode: terminated.exitCode } } }),
  }
}

function onlyDevices(amounts: Devices): Devices | undefined {
  const devices = Object.entries(amounts).filter(([name]) => isDevice(name))
  return devices.length > 0 ? Object.fromEntries(devices) : undefined
}

export function projectSet(set: Stored<PodCliqueSet>): Stored<PodCliqueSet> {
  return {
    ...set,
    metadata: trimmed(set.metadata),
    spec: { replicas: set.spec.replicas, template: { cliques: [] } },
  } as unknown as Stored<PodCliqueSet>
}

export function projectGroup(group: Stored<PodCliqueScalingGroup>): Stored<PodCliqueScalingGroup> {
  return { ...group, metadata: trimmed(group.metadata) } as Stored<PodCliqueScalingGroup>
}

export function projectClique(clique: Stored<PodClique>): Stored<PodClique> {
  const { replicas, minAvailable } = clique.spec
  return {
    ...clique,
    metadata: trimmed(clique.metadata),
    spec: {
      roleName: '',
      podSpec: { containers: [] },
      replicas,
      ...(minAvailable !== undefined && { minAvailable }),
    },
  } as unknown as Stored<PodClique>
}

/** Drops the pod references of a gang. Each pod names its gang. */
export function projectGang(gang: Stored<PodGang>): Stored<PodGang> {
  return { ...gang, metadata: trimmed(gang.metadata), spec: { podgroups: [] } } as Stored<PodGang>
}

export function projectNode(node: Stored<Node>): CachedNode {
  const conditions = (node.status?.conditions ?? []).filter(({ type }) => type === 'Ready')
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...identityOf(node.metadata), labels: node.metadata.labels ?? {} },
    spec: { ...(node.spec?.unschedulable && { unschedulable: true }) },
    status: { conditions: conditions.map(({ type, status }) => ({ type, status })) },
    devices: onlyDevices(readAmounts(node.status?.allocatable)) ?? {},
  } as unknown as CachedNode
}

export function projectEvent(event: Stored<StoredEvent>): Stored<StoredEvent> {
  const { apiVersion, kind, metadata, involvedObject, type, reason, message = '', count } = event
  const { kind: of, name, namespace } = involvedObject ?? {}
  const { firstTimestamp, lastTimestamp, eventTime, series } = event
  return {
    apiVersion,
    kind,
    metadata: identityOf(metadata),
    involvedObject: { kind: of, name, namespace },
    type,
    reason,
    message: cut(message),
    ...(count !== undefined && { count }),
    ...(firstTimestamp && { firstTimestamp }),
    ...(lastTimestamp && { lastTimestamp }),
    ...(eventTime && { eventTime }),
    ...(series && { series }),
  } as unknown as Stored<StoredEvent>
}

type Metadata = Stored<KubeObject>['metadata']

function identityOf(metadata: Metadata) {
  return {
    name: metadata.name,
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    creationTimestamp: metadata.creationTimestamp,
    ...(metadata.deletionTimestamp && { deletionTimestamp: metadata.deletionTimestamp }),
  }
}

function trimmed(metadata: Metadata) {
  return {
    ...identityOf(metadata),
    generation: metadata.generation,
    ...(metadata.labels && { labels: metadata.labels }),
  }
}

function conditionOf(status: Pod['status'], type: string) {
  return status?.conditions?.find(condition => condition.type === type)
}

function picked(labels: Readonly<Record<string, string>> = {}, keys: readonly string[]) {
  return Object.fromEntries(keys.flatMap(key => (labels[key] === undefined ? [] : [[key, labels[key]]])))
}

function cut(text: string): string {
  return text.length > longestMessage ? `${text.slice(0, longestMessage)}…` : text
}
