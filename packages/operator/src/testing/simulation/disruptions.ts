// SPDX-License-Identifier: Apache-2.0

// Checks the disruptions of an update: one unit at a time, within the budget, and never a unit that is up to date or
// held back. The check uses the state that the operator could know: changes during a request are no violation.
import { label, type Pod, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { resources } from '../../caches/resources.ts'
import { groupReplicaOf, setReplicaOf } from '../../layout/clique-instance.ts'
import { replicaCount } from '../../layout/layout.ts'
import type { StoredSet } from '../../layout/stored.ts'
import { templateHashOfClique } from '../../revision/revision.ts'
import { revisionOf } from '../../revision/set-revision.ts'
import { indexOf, isActive, isFinished, isReady, templateHashOf } from '../../state/pod-state.ts'
import { isOnDelete, updatingReplicas } from '../../update/set-progress.ts'
import type { Write } from './api.ts'
import type { ControllerKind, Known, Observer } from './simulation.ts'
import { checkStandIns, type WrittenProgress } from './stand-ins.ts'

interface Taken {
  readonly replica: number
  /** Reports whether the disrupted unit has recovered, or is no longer wanted. */
  isBack(simulation: Known): boolean
}

export class DisruptionObserver implements Observer {
  /** By the clique or group to which the unit belonged. */
  readonly #taken = new Map<string, Taken>()
  #setAtBegin!: StoredSet
  #replicasAtBegin = new Map<string, number>()
  readonly #notReadyOnce = new Set<string>()
  #updating: readonly number[] = []

  reconcileBegins(simulation: Known, _kind: ControllerKind): void {
    this.#setAtBegin = simulation.set
    this.#replicasAtBegin = new Map(
      [...simulation.cliques, ...simulation.groups].map(({ metadata, spec }) => [
        metadata.uid!,
        spec.replicas,
      ]),
    )
    this.#notReadyOnce.clear()
    this.inspects(simulation)
  }

  inspects(simulation: Known): void {
    for (const pod of podsIn(simulation)) if (!isReady(pod)) this.#notReadyOnce.add(pod.metadata.name)
    for (const [key, taken] of this.#taken) if (taken.isBack(simulation)) this.#taken.delete(key)
    const { set } = simulation
    // With OnDelete the user is responsible for disruptions that are in progress.
    if (isOnDelete(set)) this.#taken.clear()
    const now = updatingReplicas(set)
    for (const replica of this.#updating.filter(one => !now.includes(one) && one < replicaCount(set)))
      for (const [key, taken] of this.#taken)
        if (taken.replica === replica) fail(`replica ${replica} was left while ${key} was not back`)
    this.#updating = now
  }

  patches(simulation: Known, { resource, objects, patch }: Write): void {
    const [object] = objects
    if (!object) return
    const { status } = patch as {
      status?: { updateProgress?: Record<string, { current?: unknown } | undefined> }
    }
    const pods = status?.updateProgress?.readyPodsSelectedToUpdate
    const replicas = status?.updateProgress?.readyReplicaIndicesSelectedToUpdate
    if (resource === 'podcliques' && pods?.current !== undefined)
      this.#selectsPod(simulation, object as PodClique)
    if (resource === 'podcliquescalinggroups' && replicas?.current !== undefined)
      this.#selectsReplica(simulation, object as PodCliqueScalingGroup)
    if (resource === 'podcliquesets') this.#selectsSetReplicas(simulation, patch)
  }

  deletes(simulation: Known, { resource, objects }: Write): void {
    if (resource === 'pods' && simulation.reconciling === 'clique')
      for (const pod of objects) this.#deletesPod(simulation, pod as Stored<Pod>)
    if (resource === 'podcliques' && simulation.reconciling === 'group')
      this.#deletesGroupReplicas(simulation, objects)
    if (resource === 'podcliques' && simulation.reconciling === 'set')
      for (const object of objects)
        if ((setReplicaOf(object) ?? 0) < this.#wantedSetReplicas(simulation))
          fail(`PodClique ${object.metadata.name} was deleted although its replica is wanted`)
  }

  #wantedSetReplicas({ set }: Known): number {
    return Math.min(replicaCount(set), replicaCount(this.#setAtBegin))
  }

  #selectsSetReplicas(simulation: Known, patch: unknown): void {
    const { status } = patch as { status?: { updateProgress?: WrittenProgress } }
    const { spec } = this.#setAtBegin
    const planned = { ...simulation.set, spec }
    if (status?.updateProgress) checkStandIns(simulation, planned, status.updateProgress)
    const next = status?.updateProgress?.currentlyUpdating?.map(({ replicaIndex }) => replicaIndex) ?? []
    const begun = next.filter(replica => !this.#updating.includes(replica))
    if (begun.length === 0) return
    const { maxUnavailable = 1, maxSurge = 0, partition = 0, paused } = spec.updateStrategy ?? {}
    const ordinary = next.filter(replica => replica < (spec.replicas ?? 0))
    if (paused) fail(`replicas ${begun} started their update although the update is paused`)
    if (ordinary.length > maxUnavailable + maxSurge && begun.some(replica => ordinary.includes(replica)))
      fail(`${ordinary.length} replicas are updated at once`)
    if (begun.some(replica => replica < partition && ordinary.includes(replica)))
      fail(`replicas ${begun} are below the partition`)
  }

  #selectsPod(simulation: Known, clique: PodClique): void {
    const key = `PodClique ${clique.metadata.name}`
    if (this.#taken.has(key))
      fail(`${key}: another pod was deleted before the replacement of the last was ready`)
    const { replicas, minAvailable = replicas } = clique.spec
    const ready = podsOf(simulation, clique).filter(isReady).length
    if (replicas > minAvailable && ready - 1 < minAvailable)
      fail(`${key}: ${ready - 1} ready pods of ${minAvailable}`)
    if (replicas <= minAvailable && ready < replicas)
      fail(`${key}: one of ${ready} ready pods of ${replicas} was taken`)
  }

  #selectsReplica(simulation: Known, group: PodCliqueScalingGroup): void {
    const key = `PodCliqueScalingGroup ${group.metadata.name}`
    if (this.#taken.has(key))
      fail(`${key}: another replica was deleted before the replacement of the last was available`)
    const { replicas, minAvailable = 1 } = group.spec
    const serving = Array.from({ length: replicas }, (_, at) => at).filter(at =>
      isServing(simulation, group, at, said),
    )
    if (replicas > minAvailable && serving.length - 1 < minAvailable)
      fail(`${key}: ${serving.length - 1} available replicas of ${minAvailable}`)
  }

  #deletesPod(simulation: Known, pod: Stored<Pod>): void {
    const clique = simulation.cliques.find(
      ({ metadata }) => metadata.uid === pod.metadata.ownerReferences?.[0]?.uid,
    )
    if (!clique || !isActive(pod) || isFinished(pod)) return
    const key = `PodClique ${clique.metadata.name}`
    const wanted = Math.min(clique.spec.replicas, this.#replicasAtBegin.get(clique.metadata.uid!) ?? 0)
    if (podsOf(simulation, clique).length > wanted) return
    const isCurrent = (set: StoredSet) => revisionOf(set).isCurrent(clique, templateHashOf(pod) ?? '')
    if (isCurrent(this.#setAtBegin)) fail(`${key}: pod ${pod.metadata.name} is up to date and was deleted`)
    const replica = setReplicaOf(clique) ?? -1
    if (isOnDelete(this.#setAtBegin)) fail(`${key}: the operator must not replace these pods`)
    if (!updatingReplicas(this.#setAtBegin).includes(replica))
      fail(`${key}: the update has not selected replica ${replica}`)
    if (this.#setAtBegin.spec.updateStrategy?.paused) fail(`${key}: the update is paused`)
    if (this.#notReadyOnce.has(pod.metadata.name)) return
    if (clique.status?.updateProgress?.readyPodsSelectedToUpdate?.current !== pod.metadata.name)
      fail(`${key}: ready pod ${pod.metadata.name} was deleted without having been selected`)
    const { uid } = clique.metadata
    const index = indexOf(pod)
    this.#taken.set(key, {
      replica,
      isBack: ({ cliques }) => {
        const now = cliques.find(({ metadata }) => metadata.uid === uid)
        if (!now) return true
        const pods = podsOf(simulation, now)
        const holders = pods.filter(one => indexOf(one) === index)
        return holders.length ? holders.some(isReady) : pods.length >= now.spec.replicas
      },
    })
  }

  #deletesGroupReplicas(simulation: Known, cliques: readonly Stored<KubeObject>[]): void {
    const groupName = cliques[0]?.metadata.labels?.[label.scalingGroup]
    const group = simulation.groups.find(({ metadata }) => metadata.name === groupName)
    if (!group) return
    const key = `PodCliqueScalingGroup ${groupName}`
    const wanted = Math.min(group.spec.replicas, this.#replicasAtBegin.get(group.metadata.uid!) ?? 0)
    const indexes = new Set(cliques.map(clique => groupReplicaOf(clique)!))
    for (const index of [...indexes].filter(one => one < wanted)) {
      const members = membersOf(simulation, group, index)
      const revision = revisionOf(this.#setAtBegin)
      if (
        members.every(
          one =>
            revision.isCurrent(one, templateHashOfClique(one)) &&
            podsOf(simulation, one).every(pod => revision.isCurrent(one, templateHashOf(pod) ?? '')),
        )
      )
        fail(`${key}: replica ${index} is up to date and was deleted`)
      const replica = setReplicaOf(group) ?? -1
      if (!updatingReplicas(this.#setAtBegin).includes(replica))
        fail(`${key}: the update has not selected replica ${replica}`)
      if (this.#setAtBegin.spec.updateStrategy?.paused) fail(`${key}: the update is paused`)
      if (!isServing(simulation, group, index, said)) continue
      if (group.status?.updateProgress?.readyReplicaIndicesSelectedToUpdate?.current !== index)
        fail(`${key}: replica ${index} is available and was deleted without having been selected`)
      this.#taken.set(key, {
        replica,
        isBack: now => {
          const live = now.groups.find(({ metadata }) => metadata.uid === group.metadata.uid)
          return !live || index >= live.spec.replicas || isServing(now, live, index, seen)
        },
      })
    }
  }
}

type Count = (simulation: Known, clique: PodClique) => number
const said: Count = (_, { status }) => status?.readyReplicas ?? 0
const seen: Count = (simulation, clique) => podsOf(simulation, clique).filter(isReady).length

function isServing(simulation: Known, group: PodCliqueScalingGroup, index: number, ready: Count): boolean {
  const members = membersOf(simulation, group, index)
  return (
    members.length === group.spec.cliqueNames.length &&
    members.every(one => ready(simulation, one) >= (one.spec.minAvailable ?? one.spec.replicas))
  )
}

function membersOf({ api }: Known, { metadata }: PodCliqueScalingGroup, index: number): PodClique[] {
  return api
    .controlledBy(resources.podCliques, metadata.uid!)
    .filter(one => one.metadata.labels?.[label.scalingGroupReplicaIndex] === String(index))
}

function podsIn({ api }: Known): Stored<Pod>[] {
  return api.list(resources.pods)
}

function podsOf({ api }: Known, { metadata }: PodClique): Stored<Pod>[] {
  return api.controlledBy(resources.pods, metadata.uid!).filter(isActive)
}

function fail(text: string): never {
  throw new Error(text)
}
