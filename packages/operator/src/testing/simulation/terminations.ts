// SPDX-License-Identifier: Apache-2.0

// Checks gang termination. The operator terminates only replicas that were available once and have been in breach
// without interruption for the whole delay, and none that is being updated. The check evaluates breaches by the pods.
import { type EventValue, label, type Pod, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import type { EventSink } from '../../apply/intent.ts'
import { resources } from '../../caches/resources.ts'
import { setReplicaOf } from '../../layout/clique-instance.ts'
import { replicaCount } from '../../layout/layout.ts'
import { templateHashOfClique } from '../../revision/revision.ts'
import { revisionOf } from '../../revision/set-revision.ts'
import {
  hasFailedContainer,
  isActive,
  isReady,
  isScheduled,
  isStartedNotReady,
} from '../../state/pod-state.ts'
import { isPaused, updatingReplicas } from '../../update/set-progress.ts'
import type { Write } from './api.ts'
import type { Known, Observer } from './simulation.ts'

/** The tolerance: times are stored in whole seconds, and debounced statuses are written some seconds late. */
const toleranceMs = 7_000

export class TerminationObserver implements Observer {
  terminated = 0
  readonly #delayMs: number
  readonly #totalLossIsBreach: boolean
  /** By UID: since when the object is in breach, and which objects were available once. */
  readonly #since = new Map<string, number>()
  readonly #justRecovered = new Map<string, { readonly since: number; readonly at: number }>()
  readonly #onceWell = new Set<string>()
  readonly #scheduledSinceLoss = new Set<string>()
  /** Standalone cliques that were terminated, by name, with the replica count that they must get again. */
  readonly #terminatedCliques = new Map<string, PodClique>()

  constructor(delayMs: number, totalLossIsBreach: boolean) {
    this.#delayMs = delayMs
    this.#totalLossIsBreach = totalLossIsBreach
  }

  readonly events: EventSink = {
    emit: (about: KubeObject, _source: string, { reason }: EventValue) => {
      if (reason !== 'AllScheduledReplicasLost') return
      const { uid = '', name } = about.metadata ?? {}
      if (!this.#scheduledSinceLoss.delete(uid)) throw new Error(`${name}: one loss was reported twice`)
    },
  }

  reconcileBegins(simulation: Known): void {
    this.inspects(simulation)
  }

  patches(): void {}

  inspects(simulation: Known): void {
    const now = simulation.clock.now()
    this.#compareWithTerminated(simulation)
    for (const clique of simulation.cliques)
      this.#evaluate(
        clique,
        this.#isCliqueInBreach(simulation, clique),
        scheduledOf(simulation, clique) >= least(clique),
        now,
      )
    for (const group of simulation.groups) {
      const replicas = replicasOf(simulation, group)
      const well = replicas.filter(members => this.#isConverged(simulation, group, members)).length
      const minAvailable = group.spec.minAvailable ?? 1
      this.#evaluate(group, well < minAvailable, well >= minAvailable, now)
    }
    for (const { metadata, status } of [...simulation.cliques, ...simulation.groups])
      if ((status?.scheduledReplicas ?? 0) > 0) this.#scheduledSinceLoss.add(metadata.uid!)
  }

  deletes(simulation: Known, { resource, objects }: Write): void {
    if (resource !== 'podcliques' || objects.length === 0) return
    if (simulation.reconciling === 'set') this.#terminatesReplica(simulation, objects)
    if (simulation.reconciling === 'group') this.#terminatesGroupReplicas(simulation, objects)
  }

  #terminatesReplica(simulation: Known, objects: readonly Stored<KubeObject>[]): void {
    const { set } = simulation
    const replica = setReplicaOf(objects[0]!) ?? -1
    if (replica >= replicaCount(set)) return
    this.terminated++
    if (!isPaused(set) && updatingReplicas(set).includes(replica))
      throw new Error(`replica ${replica} is terminated during its update`)
    const isOf = (one: PodClique | PodCliqueScalingGroup) => setReplicaOf(one) === replica
    const standalone = simulation.cliques.filter(
      one => isOf(one) && !one.metadata.labels?.[label.scalingGroup],
    )
    if (![...standalone, ...simulation.groups.filter(isOf)].some(one => this.#isDue(simulation, one)))
      throw new Error(`replica ${replica} is terminated and nothing of it was in breach for long enough`)
    for (const one of standalone) this.#terminatedCliques.set(one.metadata.name, one)
  }

  /** A termination keeps the replicas of a clique that a user has scaled. */
  #compareWithTerminated({ set, cliques }: Known): void {
    for (const [name, before] of this.#terminatedCliques) {
      const replica = setReplicaOf(before) ?? 0
      const now = cliques.find(({ metadata }) => metadata.name === name)
      const isBack = now !== undefined && now.metadata.uid !== before.metadata.uid
      if (isBack && now.spec.replicas !== before.spec.replicas)
        throw new Error(`${name} had ${before.spec.replicas} pods and is recreated with ${now.spec.replicas}`)
      // A replica that is scaled in meanwhile has the count of the template when it is created again.
      if (isBack || replica >= replicaCount(set)) this.#terminatedCliques.delete(name)
    }
  }

  #terminatesGroupReplicas(simulation: Known, objects: readonly Stored<KubeObject>[]): void {
    const group = simulation.groups.find(
      ({ metadata }) => metadata.name === objects[0]!.metadata.labels?.[label.scalingGroup],
    )
    if (!group) return
    const revision = revisionOf(simulation.set)
    for (const members of replicasOf(simulation, group)) {
      if (!members.some(one => objects.some(({ metadata }) => metadata.uid === one.metadata.uid))) continue
      const isOutdated = (one: PodClique) => !revision.isCurrent(one, templateHashOfClique(one))
      if (members.some(isOutdated)) continue
      this.terminated++
      if (!members.some(one => this.#isDue(simulation, one)))
        throw new Error(
          `a replica of ${group.metadata.name} is terminated that was not in breach for long enough`,
        )
    }
  }

  #evaluate(
    { metadata }: PodClique | PodCliqueScalingGroup,
    inBreach: boolean,
    isConverged: boolean,
    now: number,
  ): void {
    const uid = metadata.uid!
    if (isConverged) this.#onceWell.add(uid)
    const since = this.#since.get(uid)
    // A recovery without a duration does not interrupt the breach.
    const last = this.#justRecovered.get(uid)
    if (inBreach) this.#since.set(uid, since ?? (last?.at === now ? last.since : now))
    else if (since !== undefined) {
      this.#since.delete(uid)
      this.#justRecovered.set(uid, { since, at: now })
    }
  }

  #isDue({ clock }: Known, { metadata }: PodClique | PodCliqueScalingGroup): boolean {
    const uid = metadata.uid!
    const recovered = this.#justRecovered.get(uid)
    // The operator may miss a recovery at the last moment.
    const last = recovered && clock.now() - recovered.at <= toleranceMs ? recovered.since : undefined
    const since = this.#since.get(uid) ?? last ?? Number.POSITIVE_INFINITY
    return this.#onceWell.has(uid) && clock.now() - since >= this.#delayMs - toleranceMs
  }

  #isConverged(simulation: Known, group: PodCliqueScalingGroup, members: readonly PodClique[]): boolean {
    return (
      members.length === group.spec.cliqueNames.length &&
      members.every(
        one => scheduledOf(simulation, one) >= least(one) && !this.#isCliqueInBreach(simulation, one),
      )
    )
  }

  #isCliqueInBreach(simulation: Known, clique: PodClique): boolean {
    const pods = podsOf(simulation, clique).filter(isScheduled)
    if (pods.length === 0) return this.#totalLossIsBreach
    const useless = pods.filter(pod => !isReady(pod) && (hasFailedContainer(pod) || isStartedNotReady(pod)))
    return pods.length - useless.length < least(clique)
  }
}

function least({ spec }: PodClique): number {
  return spec.minAvailable ?? spec.replicas
}

function scheduledOf(simulation: Known, clique: PodClique): number {
  return podsOf(simulation, clique).filter(isScheduled).length
}

function podsOf({ api }: Known, { metadata }: PodClique): Stored<Pod>[] {
  return api.controlledBy(resources.pods, metadata.uid!).filter(isActive)
}

function replicasOf({ api }: Known, { metadata, spec }: PodCliqueScalingGroup): PodClique[][] {
  const members = api.controlledBy(resources.podCliques, metadata.uid!)
  return Array.from({ length: spec.replicas }, (_, index) =>
    members.filter(one => one.metadata.labels?.[label.scalingGroupReplicaIndex] === String(index)),
  )
}
