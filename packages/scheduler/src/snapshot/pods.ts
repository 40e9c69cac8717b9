// SPDX-License-Identifier: Apache-2.0
import { label, type Pod } from '@grove/api'
import type { ClaimedDevices, DeviceNeeds } from '../devices/claimed-devices.ts'
import { unsupportedFields } from '../filters/pod-fields.ts'
import { canonicalText, compareText, firstDifference, sortedRecord } from '../order.ts'
import type { Amounts, HostPort, PodNeeds, SnapshotPod } from '../types.ts'
import { podRequests, unreadableRequests } from './requests.ts'
import { type Storage, type VolumeNeeds, volumeNeeds } from './volumes.ts'

/**
 * Snapshots of pods that depend on nothing but the pod and its node. Watch caches replace an object when it changes, so
 * a cycle reads only the pods that changed since the last one.
 */
const known = new WeakMap<Pod, SnapshotPod>()

/** `devices` is undefined if no pod has resource claims. */
export function snapshotPod(
  pod: Pod,
  node: string | undefined,
  storage: Storage,
  devices: ClaimedDevices | undefined,
): SnapshotPod {
  const before = known.get(pod)
  if (before && before.node === node) return before
  const claimed = devices && hasResourceClaims(pod) ? devices.needsOf(pod, node) : noDevices
  const made = newSnapshotPod(pod, node, storage, claimed)
  if (!usesClaims(pod)) known.set(pod, made)
  return made
}

/** Volumes and devices of claims depend on other objects, which change without the pod. */
export function usesClaims(pod: Pod): boolean {
  return (
    hasResourceClaims(pod) ||
    (pod.spec.volumes ?? []).some(volume => volume.persistentVolumeClaim || volume.ephemeral)
  )
}

export function hasResourceClaims({ spec }: Pod): boolean {
  return (spec.resourceClaims?.length ?? 0) > 0
}

const noDevices: DeviceNeeds = {
  requests: {},
  claimSelectors: [],
  sharedClaims: [],
  missing: [],
  unsupported: [],
  claims: [],
}

/** Needs by their text, so that pods with equal needs share one object. Bounded: dropping entries costs only memory. */
const interned = new Map<string, PodNeeds>()
const mostInterned = 4096

function intern(needs: PodNeeds): PodNeeds {
  const text = canonicalText(needs)
  const known = interned.get(text)
  if (known) return known
  if (interned.size >= mostInterned) interned.clear()
  interned.set(text, needs)
  return needs
}

function newSnapshotPod(
  pod: Pod,
  node: string | undefined,
  storage: Storage,
  devices: DeviceNeeds,
): SnapshotPod {
  const { metadata, spec } = pod
  const labels = sortedRecord(metadata.labels ?? {})
  const namespace = metadata.namespace ?? 'default'
  const volumes = volumeNeeds(namespace, metadata.name, spec, storage)
  return {
    namespace,
    name: metadata.name,
    uid: metadata.uid ?? '',
    labels,
    node,
    terminating: metadata.deletionTimestamp !== undefined,
    gates: (spec.schedulingGates ?? []).map(({ name }) => name).sort(compareText),
    index: podIndex(labels[label.podIndex]),
    priority: spec.priority ?? 0,
    createdAt: milliseconds(metadata.creationTimestamp),
    gang: labels[label.podGang],
    podClique: labels[label.podClique],
    needs: intern(podNeeds(pod, volumes, devices)),
    claims: devices.claims,
    volumeClaims: volumes.provisioned,
  }
}

function podIndex(value: string | undefined): number {
  return value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : Number.MAX_SAFE_INTEGER
}

/** Milliseconds since 1970; 0 for objects that were not created yet, so all of them have the same age. */
export function milliseconds(time: string | undefined): number {
  const value = time === undefined ? 0 : Date.parse(time)
  return Number.isNaN(value) ? 0 : value
}

function podNeeds({ spec }: Pod, volumes: VolumeNeeds, devices: DeviceNeeds): PodNeeds {
  const { affinity } = spec
  return {
    requests: devices === noDevices ? podRequests(spec) : withDevices(podRequests(spec), devices.requests),
    nodeSelector: sortedRecord(spec.nodeSelector ?? {}),
    nodeAffinity: affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
    tolerations: canonical(spec.tolerations ?? []),
    hostPorts: hostPorts(spec),
    podAffinity: canonical(affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    podAntiAffinity: canonical(
      affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
    ),
    spread: canonical(
      (spec.topologySpreadConstraints ?? []).filter(
        ({ whenUnsatisfiable }) => whenUnsatisfiable !== 'ScheduleAnyway',
      ),
    ),
    volumeSelectors: canonical(volumes.selectors),
    claimSelectors: canonical(devices.claimSelectors),
    sharedClaims: canonical(devices.sharedClaims),
    missing: canonical([...volumes.missing, ...devices.missing]),
    unsupported: [
      ...new Set([
        ...unsupportedFields(spec as unknown as Record<string, unknown>),
        ...volumes.unsupported,
        ...devices.unsupported,
        ...unreadableRequests(spec),
      ]),
    ].sort(compareText),
  }
}

function withDevices(requests: Amounts, devices: Amounts): Amounts {
  return sortedRecord({ ...requests, ...devices })
}

/** The order of these lists has no meaning, so equal sets give equal lists. */
function canonical<Item>(items: readonly Item[]): Item[] {
  const byText = new Map(items.map(item => [canonicalText(item), item]))
  return [...byText].sort(([left], [right]) => compareText(left, right)).map(([, item]) => item)
}

/** A pod in the host network uses the host port of every container port, as the API server defaults it. */
function hostPorts(spec: Pod['spec']): HostPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const ports = [...(spec.containers ?? []), ...sidecars].flatMap(container => container.ports ?? [])
  return canonical(
    ports
      .map(({ hostPort, containerPort, protocol, hostIP }) => ({
        port: hostPort || (spec.hostNetwork ? containerPort : 0),
        protocol: protocol || 'TCP',
        address: hostIP || '0.0.0.0',
      }))
      .filter(({ port }) => port > 0),
  )
}

export function compareByName(
  left: { readonly namespace: string; readonly name: string },
  right: { readonly namespace: string; readonly name: string },
): number {
  return firstDifference(compareText(left.namespace, right.namespace), compareText(left.name, right.name))
}
