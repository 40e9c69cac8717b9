// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import { storages } from '../registry/storages.ts'
import { systemPriorities } from '../registry/strategies/policy.ts'
import type { Pod, PodSpec, SchedulingPriorityClass } from '../schema/types.generated.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../server/admission.ts'
import { apiError } from '../server/status.ts'
import { objectIn, type Store } from '../store/index.ts'

const storage = storages.priorityClasses
const classNames = { group: 'scheduling.k8s.io', plural: 'priorityclasses' }
const pods = { group: '', plural: 'pods' }

/**
 * Sets the priority of a pod from its priority class. Protects the system classes and allows only one default
 * class.
 */
export const priority: AdmissionPlugin = {
  name: 'Priority',
  mutate({ operation, resource, subresource, object, oldObject }, { store }) {
    const pod = objectIn(storages.pods, object, resource.storage)
    if (!pod) return
    const old = objectIn(storages.pods, oldObject, resource.storage)
    if (operation === 'UPDATE' && old) keepPriority(specOf(pod), specOf(old))
    if (operation === 'CREATE' && subresource === '') resolve(pod, store)
  },
  validate(attributes, { store }) {
    if (attributes.resource.storage !== storage) return
    if (attributes.operation === 'DELETE') rejectDeletion(attributes.name)
    else rejectSecondDefault(attributes, store)
  },
}

function specOf(pod: Pod): PodSpec {
  pod.spec ??= {}
  return pod.spec
}

function resolve(pod: Pod, store: Store): void {
  const spec = specOf(pod)
  const chosen = spec.priorityClassName ? findClass(store, spec.priorityClassName) : defaultClass(store)
  const rejection = (why: string) => apiError.forbidden(pods, pod.metadata?.name ?? '', why)
  if (spec.priorityClassName && !chosen)
    throw rejection(`no PriorityClass with name ${spec.priorityClassName} was found`)
  const value = chosen?.value ?? 0
  if (spec.priority !== undefined && spec.priority !== value)
    throw rejection(
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    )
  const policy = chosen?.preemptionPolicy ?? 'PreemptLowerPriority'
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy)
    throw rejection(
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    )
  spec.priority = value
  spec.preemptionPolicy = policy
  if (chosen && !spec.priorityClassName) spec.priorityClassName = chosen.metadata?.name
}

/** An update may omit the values that were computed on creation. */
function keepPriority(spec: PodSpec, { priority: before, preemptionPolicy }: PodSpec): void {
  if (before !== undefined) spec.priority ??= before
  if (preemptionPolicy !== undefined) spec.preemptionPolicy ??= preemptionPolicy
}

/** System priority classes exist even if they are not stored. */
function findClass(store: Store, name: string): SchedulingPriorityClass | undefined {
  const stored = store.get(storage, name)
  const value = systemPriorities[name]
  return stored ?? (value === undefined ? undefined : { metadata: { name }, value })
}

function classes(store: Store): readonly SchedulingPriorityClass[] {
  return store.list(storage, { prefix: '' }).items
}

function defaultClass(store: Store): SchedulingPriorityClass | undefined {
  const defaults = classes(store).filter(({ globalDefault }) => globalDefault)
  return defaults.sort((a, b) => (a.value ?? 0) - (b.value ?? 0))[0]
}

function rejectDeletion(name: string): void {
  if (name in systemPriorities)
    throw apiError.forbidden(classNames, name, 'this is a system priority class and cannot be deleted')
}

function rejectSecondDefault({ name, resource, object, oldObject }: AdmissionAttributes, store: Store): void {
  const isDefault = (each: KubeObject | undefined) =>
    objectIn(storage, each, resource.storage)?.globalDefault === true
  if (!isDefault(object) || isDefault(oldObject)) return
  const own = object?.metadata.name ?? name
  const other = classes(store).find(each => each.globalDefault && each.metadata?.name !== own)
  if (other)
    throw apiError.forbidden(
      classNames,
      own,
      `PriorityClass ${other.metadata?.name} is already marked as default. Only one default can exist`,
    )
}
