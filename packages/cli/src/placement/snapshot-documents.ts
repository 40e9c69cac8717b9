// SPDX-License-Identifier: Apache-2.0

// Reads the objects that decide about placement from manifests, such as a dump of `kubectl get -o yaml`.
import type { SnapshotObjects } from '@grove/scheduler'
import { CommandError } from '../command-error.ts'
import type { ManifestDocument } from '../manifests/manifest.ts'
import { isObject, kindOf } from '../manifests/manifest-value.ts'
import { snapshotSchemas, withoutNulls, wrongType } from './snapshot-schemas.ts'

type ListName = keyof SnapshotObjects

interface SnapshotKind {
  readonly list: ListName
  readonly group: string
  /** Reports the first field without which the object cannot be read. */
  readonly problem?: (object: Readonly<Record<string, unknown>>) => string | undefined
}

const kinds: Readonly<Record<string, SnapshotKind>> = {
  Node: { list: 'nodes', group: '' },
  Pod: { list: 'pods', group: '', problem: podProblem },
  PodGang: { list: 'podGangs', group: 'scheduler.grove.io', problem: gangProblem },
  ClusterTopologyBinding: { list: 'topologyBindings', group: 'grove.io', problem: bindingProblem },
  PriorityClass: { list: 'priorityClasses', group: 'scheduling.k8s.io' },
  Namespace: { list: 'namespaces', group: '' },
  PersistentVolume: { list: 'persistentVolumes', group: '' },
  PersistentVolumeClaim: { list: 'persistentVolumeClaims', group: '' },
  StorageClass: { list: 'storageClasses', group: 'storage.k8s.io' },
  ResourceSlice: { list: 'resourceSlices', group: 'resource.k8s.io', problem: sliceProblem },
  ResourceClaim: { list: 'resourceClaims', group: 'resource.k8s.io', problem: claimProblem },
  ResourceClaimTemplate: {
    list: 'resourceClaimTemplates',
    group: 'resource.k8s.io',
    problem: templateProblem,
  },
  DeviceClass: { list: 'deviceClasses', group: 'resource.k8s.io', problem: classProblem },
}

/** The objects of the documents. Other kinds are ignored. The last object with the same name wins. */
export function snapshotObjects(documents: readonly ManifestDocument[]): SnapshotObjects {
  const lists = new Map<ListName, Map<string, unknown>>()
  for (const document of documents) {
    const kind = kinds[kindOf(document)]
    if (!kind || !isObject(document.value) || groupOf(document.value) !== kind.group) continue
    const value = withoutNulls(document.value) as typeof document.value
    const { metadata } = value
    if (!isObject(metadata) || typeof metadata.name !== 'string') throw broken(document, 'metadata.name')
    const field = kind.problem?.(value) ?? wrongType(snapshotSchemas[kindOf(document)]!, value)
    if (field !== undefined) throw broken(document, field)
    const list = lists.get(kind.list) ?? new Map<string, unknown>()
    lists.set(kind.list, list.set(`${String(metadata.namespace ?? 'default')}/${metadata.name}`, value))
  }
  const objects = Object.fromEntries([...lists].map(([name, list]) => [name, [...list.values()]]))
  return { nodes: [], pods: [], podGangs: [], ...objects } as SnapshotObjects
}

/** Adds objects. An object replaces one of the same name. */
export function withObjects(objects: SnapshotObjects, added: SnapshotObjects): SnapshotObjects {
  const names = new Set([...Object.keys(objects), ...Object.keys(added)]) as Set<ListName>
  const merged = [...names].map(name => {
    const byName = new Map<string, unknown>()
    for (const object of [...(objects[name] ?? []), ...(added[name] ?? [])])
      byName.set(`${object.metadata.namespace ?? 'default'}/${object.metadata.name}`, object)
    return [name, [...byName.values()]]
  })
  return Object.fromEntries(merged) as SnapshotObjects
}

function groupOf({ apiVersion }: Readonly<Record<string, unknown>>): string {
  const text = String(apiVersion ?? '')
  return text.includes('/') ? text.slice(0, text.indexOf('/')) : ''
}

function broken(document: ManifestDocument, field: string): CommandError {
  const line = document.locate(field)?.line ?? document.line
  return new CommandError(
    `${document.source}:${line}: the ${kindOf(document)} has no valid ${field}; fix it or remove the object`,
  )
}

function podProblem({ spec }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isObject(spec)) return 'spec'
  return isListOfObjects(spec.containers) ? undefined : 'spec.containers'
}

function gangProblem({ spec }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isObject(spec)) return 'spec'
  if (!isListOfObjects(spec.podgroups)) return 'spec.podgroups'
  const at = spec.podgroups.findIndex(
    ({ name, minReplicas }) => typeof name !== 'string' || !Number.isSafeInteger(minReplicas),
  )
  return at < 0 ? undefined : `spec.podgroups[${at}].minReplicas`
}

function bindingProblem({ spec }: Readonly<Record<string, unknown>>): string | undefined {
  return isObject(spec) && isListOfObjects(spec.levels) ? undefined : 'spec.levels'
}

function sliceProblem({ spec }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isObject(spec)) return 'spec'
  if (typeof spec.driver !== 'string') return 'spec.driver'
  if (!isObject(spec.pool) || typeof spec.pool.name !== 'string') return 'spec.pool.name'
  return spec.devices === undefined || isListOfObjects(spec.devices) ? undefined : 'spec.devices'
}

function claimProblem({ spec }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isObject(spec)) return 'spec'
  const requests = isObject(spec.devices) ? spec.devices.requests : undefined
  return requests === undefined || isListOfObjects(requests) ? undefined : 'spec.devices.requests'
}

function templateProblem({ spec }: Readonly<Record<string, unknown>>): string | undefined {
  const problem = isObject(spec) ? claimProblem(spec) : ''
  return problem === undefined ? undefined : `spec${problem && `.${problem}`}`
}

function classProblem({ spec }: Readonly<Record<string, unknown>>): string | undefined {
  const selectors = isObject(spec) ? spec.selectors : undefined
  return selectors === undefined || isListOfObjects(selectors) ? undefined : 'spec.selectors'
}

function isListOfObjects(value: unknown): value is Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.every(isObject)
}
