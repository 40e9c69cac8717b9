// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import type { Node, Pod, PodSpec, SchedulingPriorityClass, Toleration } from '../schema/types.generated.ts'
import type { AdmissionPlugin } from '../server/admission.ts'
import { refuse } from '../server/status.ts'
import type { Store } from '../store/index.ts'

function isNew(operation: string, storage: string, subresource: string, wanted: string): boolean {
  return operation === 'CREATE' && storage === wanted && subresource === ''
}

function podSpecOf(object: KubeObject | undefined): PodSpec {
  const pod = object as unknown as Pod
  pod.spec ??= {}
  return pod.spec
}

const priorityClasses = 'priorityclasses.scheduling.k8s.io'

/** Resolves the priority class of a pod to its number. */
export const priority: AdmissionPlugin = {
  name: 'Priority',
  mutate({ operation, resource, subresource, object, oldObject }, { store }) {
    if (operation === 'UPDATE' && resource.storage === 'pods' && oldObject)
      keepPriority(podSpecOf(object), oldObject)
    if (!isNew(operation, resource.storage, subresource, 'pods')) return
    const spec = podSpecOf(object)
    const chosen = spec.priorityClassName ? findPriorityClass(store, spec) : defaultPriorityClass(store)
    if (spec.priorityClassName && !chosen)
      throw refuse.forbidden(
        { group: '', plural: 'pods' },
        object?.metadata.name ?? '',
        `no PriorityClass with name ${spec.priorityClassName} was found`,
      )
    const value = chosen?.value ?? 0
    if (spec.priority !== undefined && spec.priority !== value)
      throw refuse.forbidden(
        { group: '', plural: 'pods' },
        object?.metadata.name ?? '',
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      )
    spec.priority = value
    if (chosen && !spec.priorityClassName) spec.priorityClassName = chosen.metadata?.name
    spec.preemptionPolicy ??= chosen?.preemptionPolicy ?? 'PreemptLowerPriority'
  },
}

/** What was computed on creation need not be repeated in an update. */
function keepPriority(spec: PodSpec, old: KubeObject): void {
  const { priority: before, preemptionPolicy } = (old as unknown as Pod).spec ?? {}
  if (before !== undefined) spec.priority ??= before
  if (preemptionPolicy !== undefined) spec.preemptionPolicy ??= preemptionPolicy
}

/** The two that every cluster has, whether or not someone stored them. */
const systemClasses: Record<string, number> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

function findPriorityClass(
  store: Store,
  { priorityClassName = '' }: PodSpec,
): SchedulingPriorityClass | undefined {
  const stored = store.get(priorityClasses, priorityClassName) as unknown as
    | SchedulingPriorityClass
    | undefined
  const system = systemClasses[priorityClassName]
  return (
    stored ?? (system === undefined ? undefined : { metadata: { name: priorityClassName }, value: system })
  )
}

function defaultPriorityClass(store: Store): SchedulingPriorityClass | undefined {
  const defaults = (
    store.list(priorityClasses, { prefix: '' }).items as unknown as SchedulingPriorityClass[]
  ).filter(({ globalDefault }) => globalDefault)
  return defaults.sort((a, b) => (a.value ?? 0) - (b.value ?? 0))[0]
}

const tolerationSeconds = 300
const awayTaints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** Pods stay five minutes on a node that went away, unless they say otherwise. */
export const defaultTolerations: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate({ operation, resource, subresource, object }) {
    // An update that leaves them out means the same pod.
    if (operation === 'DELETE' || resource.storage !== 'pods' || subresource !== '') return
    const spec = podSpecOf(object)
    for (const key of awayTaints) {
      if ((spec.tolerations ?? []).some(toleration => tolerates(toleration, key))) continue
      spec.tolerations = [
        ...(spec.tolerations ?? []),
        { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds },
      ]
    }
  },
}

function tolerates({ key, effect }: Toleration, wanted: string): boolean {
  return (!key || key === wanted) && (!effect || effect === 'NoExecute')
}

/** A new node takes no pods until it has said that it is ready. */
export const notReadyTaint: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  mutate({ operation, resource, subresource, object }) {
    if (!isNew(operation, resource.storage, subresource, 'nodes')) return
    const node = object as unknown as Node
    node.spec ??= {}
    const key = 'node.kubernetes.io/not-ready'
    if (!node.spec.taints?.some(taint => taint.key === key && taint.effect === 'NoSchedule'))
      node.spec.taints = [...(node.spec.taints ?? []), { key, effect: 'NoSchedule' }]
  },
}
