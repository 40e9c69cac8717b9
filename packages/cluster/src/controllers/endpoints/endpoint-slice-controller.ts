// SPDX-License-Identifier: Apache-2.0

import { isAlreadyExists, isNotFound, type Stored } from '@grove/kube'
import { labelTest } from '../../scheduling/selector.ts'
import { changesOf, keyOf, ownChangesOf, refOf } from '../changes.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { type EndpointSlice, endpointSlices, nodes, type Pod, type Service, services } from '../kinds.ts'
import { isReady } from '../pod-state.ts'
import type { Runtime } from '../runtime.ts'
import { sameStatus } from '../same-status.ts'
import { managedByLabel, manager, serviceNameLabel, wantedSlices } from './slices.ts'

const workers = 4
/** Coalesces the events of many pods into one reconcile of their Service. */
const coalesceMs = 20

/** Maintains the EndpointSlices of Services with a selector. */
export class EndpointSliceController extends ControlLoop {
  constructor(runtime: Runtime) {
    super('endpointslice-controller', runtime, workers)
    const { caches } = runtime
    caches.require(nodes)
    this.watch(
      ownChangesOf(caches.of(services)),
      changesOf(caches.pods, ({ old, new: pod }) => {
        if (old && pod && sameAddress(old, pod)) return []
        for (const key of this.#servicesOf(pod, old)) this.enqueueAfter(key, coalesceMs)
        return []
      }),
      changesOf(caches.of(endpointSlices), ({ type, old }) => {
        const name = type === 'delete' ? old.metadata.labels?.[serviceNameLabel] : undefined
        return name ? [`${old?.metadata.namespace}/${name}`] : []
      }),
    )
  }

  #servicesOf(...pods: readonly (Stored<Pod> | undefined)[]): string[] {
    const namespace = pods.find(pod => pod)?.metadata.namespace
    return this.runtime.caches
      .of(services)
      .list(namespace)
      .filter(service => pods.some(pod => pod && selects(service, pod)))
      .map(({ metadata }) => keyOf(metadata))
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const { caches } = this.runtime
    const service = caches.of(services).get(refOf(key))
    const selector = service?.spec?.selector
    // The user manages the slices of a Service without selector. The garbage collector deletes the slices of
    // a deleted Service.
    if (!service || service.metadata.deletionTimestamp || !selector || service.spec?.type === 'ExternalName')
      return
    const chosen = caches.pods.list(service.metadata.namespace).filter(pod => selects(service, pod))
    const wanted = wantedSlices(service, chosen, name => caches.of(nodes).get({ name }))
    const existing = caches
      .of(endpointSlices)
      .list(service.metadata.namespace)
      .filter(
        ({ metadata: { labels } }) =>
          labels?.[serviceNameLabel] === service.metadata.name && labels[managedByLabel] === manager,
      )
    for (const slice of wanted) await this.#write(slice, existing)
    for (const { metadata } of existing)
      if (!wanted.some(slice => slice.metadata?.name === metadata.name))
        await this.runtime.client.delete(endpointSlices, metadata).catch(ignoreMissing)
  }

  async #write(slice: EndpointSlice, existing: readonly Stored<EndpointSlice>[]): Promise<void> {
    const { client } = this.runtime
    const known = existing.find(({ metadata }) => metadata.name === slice.metadata?.name)
    try {
      if (!known) await client.create(endpointSlices, slice)
      else if (!sameContent(known, slice)) {
        const metadata = { ...known.metadata, labels: slice.metadata?.labels }
        await client.update(endpointSlices, { ...slice, metadata })
      }
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
}

function selects({ spec }: Stored<Service>, { metadata }: Stored<Pod>): boolean {
  const selector = spec?.selector
  if (!selector || Object.keys(selector).length === 0) return false
  return labelTest({ matchLabels: selector })(metadata.labels ?? {})
}

function sameAddress(old: Stored<Pod>, pod: Stored<Pod>): boolean {
  return (
    old.status?.podIP === pod.status?.podIP &&
    old.status?.phase === pod.status?.phase &&
    isReady(old) === isReady(pod) &&
    old.metadata.deletionTimestamp === pod.metadata.deletionTimestamp &&
    sameStatus(old.metadata.labels, pod.metadata.labels)
  )
}

function sameContent(known: EndpointSlice, slice: EndpointSlice): boolean {
  return (
    sameStatus(known.endpoints, slice.endpoints) &&
    sameStatus(known.ports, slice.ports) &&
    sameStatus(known.metadata?.labels, slice.metadata?.labels)
  )
}

function ignoreMissing(error: unknown): void {
  if (!isNotFound(error)) throw error
}
