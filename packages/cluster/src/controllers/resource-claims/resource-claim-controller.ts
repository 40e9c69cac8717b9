// SPDX-License-Identifier: Apache-2.0

import { Controller, isAlreadyExists, isNotFound, type Stored } from '@grove/kube'
import { changesOf, keyOf, ownChangesOf, refOf } from '../changes.ts'
import { type Pod, pods, type ResourceClaim, resourceClaims, resourceClaimTemplates } from '../kinds.ts'
import { hasEnded } from '../pod-state.ts'
import type { Component, Runtime } from '../runtime.ts'
import { claimsOf } from './claim-names.ts'
import { claimFinalizer } from './device-scheduling.ts'

const entryAnnotation = 'resource.kubernetes.io/pod-claim-name'
const workers = 8

/** Creates claims from the templates of pods, and releases claims of finished pods. */
export class ResourceClaimController implements Component {
  readonly name = 'resource-claim-controller'
  readonly #runtime: Runtime
  readonly #pods: Controller
  readonly #claims: Controller

  constructor(runtime: Runtime) {
    const { caches, clock, random, log } = runtime
    this.#runtime = runtime
    const shared = { clock, random, log, workers }
    this.#pods = new Controller({
      ...shared,
      name: this.name,
      sources: [
        changesOf(caches.pods, ({ new: pod }) =>
          pod?.spec?.resourceClaims?.length ? [keyOf(pod.metadata)] : [],
        ),
        changesOf(caches.of(resourceClaimTemplates), ({ type, new: template }) =>
          type === 'add' ? this.#podsOf(template.metadata.namespace ?? '', template.metadata.name) : [],
        ),
      ],
      reconcile: key => this.#createClaims(key),
    })
    this.#claims = new Controller({
      ...shared,
      name: `${this.name}-release`,
      sources: [
        ownChangesOf(caches.of(resourceClaims)),
        changesOf(caches.pods, ({ old, new: pod }) => {
          const had = old ?? pod
          if (!had?.spec?.resourceClaims?.length || (pod && !hasEnded(pod))) return []
          return claimsOf(had).flatMap(({ claim }) => (claim ? [`${had.metadata.namespace}/${claim}`] : []))
        }),
      ],
      reconcile: key => this.#release(key),
    })
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#pods.start(signal)
    await this.#claims.start(signal)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#pods.stop(), this.#claims.stop()])
  }

  #podsOf(namespace: string, template: string): string[] {
    return this.#runtime.caches.pods
      .list(namespace)
      .filter(({ spec }) => spec?.resourceClaims?.some(each => each.resourceClaimTemplateName === template))
      .map(({ metadata }) => keyOf(metadata))
  }

  async #createClaims(key: string): Promise<void> {
    const { caches, client } = this.#runtime
    const pod = caches.pods.get(refOf(key))
    if (!pod || hasEnded(pod) || pod.metadata.deletionTimestamp) return
    const missing = claimsOf(pod).filter(({ claim, template }) => claim === undefined && template)
    if (missing.length === 0) return
    const statuses = [...(pod.status?.resourceClaimStatuses ?? [])]
    for (const { entry, template = '' } of missing) {
      const name = await this.#claimFor(pod, entry, template)
      if (name) statuses.push({ name: entry, resourceClaimName: name })
    }
    if (statuses.length === (pod.status?.resourceClaimStatuses?.length ?? 0)) return
    try {
      const strategic = { metadata: { uid: pod.metadata.uid }, status: { resourceClaimStatuses: statuses } }
      await client.patch(pods, pod.metadata, { strategic }, { subresource: 'status' })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** Returns the claim for this entry of the pod. It may exist from an earlier attempt. */
  async #claimFor(pod: Stored<Pod>, entry: string, template: string): Promise<string | undefined> {
    const { caches, client } = this.#runtime
    const { name, namespace, uid } = pod.metadata
    const known = caches
      .of(resourceClaims)
      .list(namespace)
      .find(
        ({ metadata }) =>
          metadata.annotations?.[entryAnnotation] === entry &&
          metadata.ownerReferences?.some(owner => owner.uid === uid),
      )
    if (known) return known.metadata.name
    const found = caches.of(resourceClaimTemplates).get({ namespace, name: template })
    if (!found) return undefined
    const { metadata, spec } = found.spec ?? {}
    const claim: ResourceClaim = {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: {
        generateName: `${name}-${entry}-`,
        namespace,
        labels: metadata?.labels,
        annotations: { ...metadata?.annotations, [entryAnnotation]: entry },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Pod', name, uid, controller: true, blockOwnerDeletion: true },
        ],
      },
      spec,
    }
    try {
      return (await client.create(resourceClaims, claim)).metadata.name
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      return undefined
    }
  }

  async #release(key: string): Promise<void> {
    const { caches, client } = this.#runtime
    const claim = caches.of(resourceClaims).get(refOf(key))
    if (!claim) return
    try {
      const live = await this.#dropConsumers(claim)
      const isUnused = !live.status?.reservedFor?.length && !live.status?.allocation
      if (
        isUnused &&
        live.metadata.finalizers?.includes(claimFinalizer) &&
        (live.metadata.deletionTimestamp || !isNew(claim))
      ) {
        const finalizers = live.metadata.finalizers.filter(each => each !== claimFinalizer)
        const { resourceVersion } = live.metadata
        await client.patch(resourceClaims, live.metadata, {
          merge: { metadata: { resourceVersion, finalizers } },
        })
      }
      if (this.#isOfFinishedPod(live))
        await client.delete(resourceClaims, live.metadata, { preconditions: { uid: live.metadata.uid } })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** Removes finished and deleted pods from reservedFor. The devices are free when it is empty. */
  async #dropConsumers(claim: Stored<ResourceClaim>): Promise<Stored<ResourceClaim>> {
    const { caches, client } = this.#runtime
    const consumers = claim.status?.reservedFor ?? []
    const left = consumers.filter(({ name = '', uid }) => {
      const pod = caches.pods.get({ namespace: claim.metadata.namespace, name })
      return pod?.metadata.uid === uid && !hasEnded(pod!)
    })
    const isFreed = left.length === 0 && claim.status?.allocation
    if (left.length === consumers.length && !(isFreed && consumers.length === 0)) return claim
    const { resourceVersion } = claim.metadata
    const status = { reservedFor: left.length ? left : null, ...(left.length === 0 && { allocation: null }) }
    return client.patch(
      resourceClaims,
      claim.metadata,
      { merge: { metadata: { resourceVersion }, status } },
      { subresource: 'status' },
    )
  }

  /** Reports whether the claim belongs to a finished pod. */
  #isOfFinishedPod({ metadata }: Stored<ResourceClaim>): boolean {
    const owner = metadata.ownerReferences?.find(({ controller, kind }) => controller && kind === 'Pod')
    if (!owner || metadata.deletionTimestamp) return false
    const pod = this.#runtime.caches.pods.get({ namespace: metadata.namespace, name: owner.name })
    return pod?.metadata.uid === owner.uid && hasEnded(pod)
  }
}

/** A scheduler adds the finalizer before it allocates the claim, so a claim without allocation keeps it. */
function isNew({ status }: Stored<ResourceClaim>): boolean {
  return !status?.allocation
}
