// SPDX-License-Identifier: Apache-2.0

import { createHash } from 'node:crypto'
import { isAlreadyExists, isNotFound, type Stored } from '@grove/kube'
import type { PodTemplateSpec } from '../../schema/types.generated.ts'
import { ownChangesOf, refOf } from '../changes.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import {
  type ControllerRevision,
  controllerRevisions,
  type Pod,
  pods,
  type StatefulSet,
  statefulSets,
} from '../kinds.ts'
import { deletePod, ownerChangesOf, podFrom } from '../owned-pods.ts'
import { availableAt, isActive, isReady } from '../pod-state.ts'
import type { Runtime } from '../runtime.ts'
import { sameStatus } from '../same-status.ts'
import { ordinalOf, planStep, revisionLabel } from './plan.ts'

const workers = 4

/**
 * Keeps pods with stable names, in order. Does not create PersistentVolumeClaims, because no controller here
 * binds them.
 */
export class StatefulSetController extends ControlLoop {
  constructor(runtime: Runtime) {
    super('statefulset-controller', runtime, workers)
    const { caches } = runtime
    caches.require(controllerRevisions)
    this.watch(ownChangesOf(caches.of(statefulSets)), ownerChangesOf(runtime, 'StatefulSet'))
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const { caches, clock } = this.runtime
    const set = caches.of(statefulSets).get(refOf(key))
    if (!set || set.metadata.deletionTimestamp) return undefined
    const update = await this.#revision(set)
    const owned = () => caches.pods.byIndex('controller', set.metadata.uid)
    const step = planStep(set, owned(), update)
    for (const { ordinal, updated } of step.create)
      await this.#create(set, ordinal, updated ? update : undefined, update)
    for (const pod of step.delete) await deletePod(this.runtime, pod)
    await this.#writeStatus(set, owned(), update)
    const later = owned()
      .map(pod => availableAt(pod, set.spec?.minReadySeconds ?? 0) ?? 0)
      .filter(at => at > clock.now())
    return later.length ? { requeueAt: Math.min(...later) } : undefined
  }

  /** Returns the name of the ControllerRevision of the current template. Creates it if needed. */
  async #revision(set: Stored<StatefulSet>): Promise<string> {
    const { caches, client } = this.runtime
    const { name, namespace, uid } = set.metadata
    const hash = createHash('sha256').update(JSON.stringify(set.spec?.template)).digest('hex').slice(0, 10)
    const revisionName = `${name}-${hash}`
    const known = caches.of(controllerRevisions)
    if (known.get({ namespace, name: revisionName })) return revisionName
    const mine = known
      .list(namespace)
      .filter(({ metadata }) => metadata.ownerReferences?.some(owner => owner.uid === uid))
    const revision: ControllerRevision = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: revisionName,
        namespace,
        labels: { ...set.spec?.template?.metadata?.labels, [revisionLabel]: hash },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'StatefulSet',
            name,
            uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      data: { spec: { template: { ...set.spec?.template, $patch: 'replace' } } },
      revision: Math.max(0, ...mine.map(each => each.revision ?? 0)) + 1,
    }
    try {
      await client.create(controllerRevisions, revision)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    return revisionName
  }

  async #create(
    set: Stored<StatefulSet>,
    ordinal: number,
    wanted: string | undefined,
    update: string,
  ): Promise<void> {
    const revision = wanted ?? set.status?.currentRevision ?? update
    const name = `${set.metadata.name}-${ordinal}`
    const labels = {
      [revisionLabel]: revision,
      'apps.kubernetes.io/pod-index': String(ordinal),
      'statefulset.kubernetes.io/pod-name': name,
    }
    const pod = podFrom(statefulSets, set, this.#templateOf(set, revision), { name, labels })
    const spec = { ...pod.spec, hostname: name, subdomain: set.spec?.serviceName }
    try {
      await this.runtime.client.create(pods, { ...pod, spec })
      const message = `create Pod ${name} in StatefulSet ${set.metadata.name} successful`
      this.runtime.events.record(statefulSets, set, {
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message,
        component: this.name,
      })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }

  #templateOf(set: Stored<StatefulSet>, revision: string): PodTemplateSpec | undefined {
    const { namespace } = set.metadata
    const stored = this.runtime.caches.of(controllerRevisions).get({ namespace, name: revision })
    const data = stored?.data as
      | { readonly spec?: { readonly template?: PodTemplateSpec & { $patch?: string } } }
      | undefined
    if (!data?.spec?.template) return set.spec?.template
    const { $patch: _, ...template } = data.spec.template
    return template
  }

  async #writeStatus(set: Stored<StatefulSet>, owned: readonly Stored<Pod>[], update: string): Promise<void> {
    const { client, clock } = this.runtime
    const active = owned.filter(pod => isActive(pod) && ordinalOf(set, pod) >= 0)
    const of = (revision: string) =>
      active.filter(({ metadata }) => metadata.labels?.[revisionLabel] === revision).length
    const ready = active.filter(isReady)
    const wanted = set.spec?.replicas ?? 1
    const minReady = set.spec?.minReadySeconds ?? 0
    const isUpdated = of(update) === wanted && ready.length === wanted
    const current = isUpdated ? update : (set.status?.currentRevision ?? update)
    const status = {
      observedGeneration: set.metadata.generation,
      replicas: active.length,
      readyReplicas: ready.length,
      availableReplicas: ready.filter(pod => (availableAt(pod, minReady) ?? clock.now() + 1) <= clock.now())
        .length,
      currentReplicas: of(current),
      updatedReplicas: of(update),
      currentRevision: current,
      updateRevision: update,
      collisionCount: 0,
    }
    if (sameStatus(status, set.status)) return
    try {
      await client.patch(statefulSets, set.metadata, { merge: { status } }, { subresource: 'status' })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
