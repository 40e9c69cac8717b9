// SPDX-License-Identifier: Apache-2.0

import { isAlreadyExists, isConflict, isNotFound, type Stored } from '@grove/kube'
import { changesOf, ownChangesOf, refOf } from '../changes.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { type Deployment, deployments, type ReplicaSet, replicaSets } from '../kinds.ts'
import type { Runtime } from '../runtime.ts'
import { sameStatus } from '../same-status.ts'
import {
  currentSet,
  newestRevision,
  newReplicaSet,
  revisionAnnotation,
  revisionOf,
  setAnnotations,
} from './revision.ts'
import { boundsOf, planRollout, type SetState } from './rollout.ts'
import { deploymentStatus, progressDeadline } from './status.ts'

const workers = 4
const defaultHistory = 10
/** The caches may be behind after a conflict. */
const conflictDelayMs = 10

/** Rolls out the pods of a Deployment from one ReplicaSet to the next, within maxSurge and maxUnavailable. */
export class DeploymentController extends ControlLoop {
  constructor(runtime: Runtime) {
    super('deployment-controller', runtime, workers)
    const { caches } = runtime
    const ofSets = changesOf(caches.replicaSets, ({ old, new: set }) => {
      const owner = (set ?? old)?.metadata.ownerReferences?.find(({ controller }) => controller)
      return owner?.kind === 'Deployment' ? [`${(set ?? old)?.metadata.namespace}/${owner.name}`] : []
    })
    this.watch(ownChangesOf(caches.of(deployments)), ofSets)
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const deployment = this.runtime.caches.of(deployments).get(refOf(key))
    if (!deployment) return undefined
    try {
      if (deployment.metadata.deletionTimestamp) await this.#writeStatus(deployment, false)
      else return await this.#roll(deployment)
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
      this.enqueueAfter(key, conflictDelayMs)
    }
    return undefined
  }

  async #roll(deployment: Stored<Deployment>): Promise<{ requeueAt: number } | undefined> {
    const before = currentSet(deployment, this.#setsOf(deployment))
    const current = before ?? (deployment.spec?.paused ? undefined : await this.#createSet(deployment))
    if (current) {
      if (!deployment.spec?.paused) await this.#markRevision(deployment, current)
      await this.#resize(deployment, current)
      await this.#forgetOldSets(deployment, current)
    }
    const deadline = await this.#writeStatus(deployment, before === undefined)
    return deadline === undefined ? undefined : { requeueAt: deadline }
  }

  #setsOf({ metadata }: Stored<Deployment>): Stored<ReplicaSet>[] {
    return this.runtime.caches.replicaSets.byIndex('controller', metadata.uid)
  }

  async #createSet(deployment: Stored<Deployment>): Promise<Stored<ReplicaSet> | undefined> {
    const { client } = this.runtime
    const sets = this.#setsOf(deployment)
    const wanted = deployment.spec?.replicas ?? 1
    const most = wanted + boundsOf(deployment).surge
    const total = sets.reduce((count, { spec }) => count + (spec?.replicas ?? 0), 0)
    const isRecreate = deployment.spec?.strategy?.type === 'Recreate'
    const busy = sets.some(({ spec, status }) => (spec?.replicas ?? 0) > 0 || (status?.replicas ?? 0) > 0)
    const first = isRecreate ? (busy ? 0 : wanted) : Math.max(0, Math.min(wanted, most - total))
    try {
      const set = newReplicaSet(deployment, newestRevision(sets) + 1, first, most)
      const created = await client.create(replicaSets, set)
      if (first > 0)
        this.#recordEvent(deployment, `Scaled up replica set ${created.metadata.name} from 0 to ${first}`)
      return created
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      // A hash collision with another template. The next attempt uses another name.
      const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
      await client.patch(
        deployments,
        deployment.metadata,
        { merge: { status: { collisionCount } } },
        { subresource: 'status' },
      )
      return undefined
    }
  }

  /** The current template has the highest revision, also after a rollback to an old template. */
  async #markRevision(deployment: Stored<Deployment>, current: Stored<ReplicaSet>): Promise<void> {
    const { client } = this.runtime
    const others = this.#setsOf(deployment).filter(({ metadata }) => metadata.uid !== current.metadata.uid)
    const newest = newestRevision(others)
    const revision = revisionOf(current) > newest ? revisionOf(current) : newest + 1
    const most = (deployment.spec?.replicas ?? 1) + boundsOf(deployment).surge
    const annotations = setAnnotations(deployment, revision, most)
    const has = current.metadata.annotations ?? {}
    if (Object.entries(annotations).some(([key, value]) => has[key] !== value))
      await client.patch(replicaSets, current.metadata, { merge: { metadata: { annotations } } })
    if (deployment.metadata.annotations?.[revisionAnnotation] === String(revision)) return
    // Written through the status subresource, because other changes of annotations increment the generation
    // of a Deployment.
    const merge = { metadata: { annotations: { [revisionAnnotation]: String(revision) } } }
    await client.patch(deployments, deployment.metadata, { merge }, { subresource: 'status' })
  }

  async #resize(deployment: Stored<Deployment>, current: Stored<ReplicaSet>): Promise<void> {
    const sets = this.#setsOf(deployment)
    const older = sets.filter(({ metadata }) => metadata.uid !== current.metadata.uid)
    const live = sets.find(({ metadata }) => metadata.uid === current.metadata.uid) ?? current
    const sizes = deployment.spec?.paused
      ? pausedSizes(deployment, live, older)
      : planRollout(deployment, stateOf(live), older.map(stateOf))
    for (const [name, replicas] of sizes) {
      const set = sets.find(({ metadata }) => metadata.name === name)!
      const from = set.spec?.replicas ?? 0
      await this.runtime.client.patch(replicaSets, set.metadata, { merge: { spec: { replicas } } })
      const direction = replicas > from ? 'up' : 'down'
      this.#recordEvent(deployment, `Scaled ${direction} replica set ${name} from ${from} to ${replicas}`)
    }
  }

  async #forgetOldSets(deployment: Stored<Deployment>, current: Stored<ReplicaSet>): Promise<void> {
    const keep = deployment.spec?.revisionHistoryLimit ?? defaultHistory
    const idle = this.#setsOf(deployment)
      .filter(
        ({ metadata, spec, status }) =>
          metadata.uid !== current.metadata.uid &&
          !metadata.deletionTimestamp &&
          !spec?.replicas &&
          !status?.replicas,
      )
      .sort((a, b) => revisionOf(a) - revisionOf(b))
    for (const { metadata } of idle.slice(0, Math.max(0, idle.length - keep)))
      await this.runtime.client.delete(replicaSets, metadata, { preconditions: { uid: metadata.uid } })
  }

  async #writeStatus(deployment: Stored<Deployment>, justCreated: boolean): Promise<number | undefined> {
    const { client, clock, caches } = this.runtime
    const live = caches.of(deployments).get(deployment.metadata) ?? deployment
    const sets = this.#setsOf(live)
    const status = deploymentStatus(live, currentSet(live, sets), sets, justCreated, clock.now())
    if (!sameStatus(status, live.status))
      await client.patch(deployments, live.metadata, { merge: { status } }, { subresource: 'status' })
    return progressDeadline(live, status)
  }

  #recordEvent(deployment: Stored<Deployment>, message: string): void {
    this.runtime.events.record(deployments, deployment, {
      type: 'Normal',
      reason: 'ScalingReplicaSet',
      message,
      component: this.name,
    })
  }
}

function stateOf({ metadata, spec, status }: Stored<ReplicaSet>): SetState {
  return {
    name: metadata.name,
    created: metadata.creationTimestamp ?? '',
    replicas: spec?.replicas ?? 0,
    actual: (status?.replicas ?? 0) + (status?.terminatingReplicas ?? 0),
    available: status?.availableReplicas ?? 0,
  }
}

/** A paused Deployment does not roll out, but it can be scaled: the active ReplicaSet gets the new size. */
function pausedSizes(
  { spec }: Stored<Deployment>,
  current: Stored<ReplicaSet>,
  older: readonly Stored<ReplicaSet>[],
): Map<string, number> {
  if (older.some(set => (set.spec?.replicas ?? 0) > 0) || current.spec?.replicas === spec?.replicas)
    return new Map()
  return new Map([[current.metadata.name, spec?.replicas ?? 1]])
}
