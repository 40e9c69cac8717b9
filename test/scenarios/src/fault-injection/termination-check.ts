// SPDX-License-Identifier: Apache-2.0

// Checks every deletion by the operator in a set without updates. The operator may delete only replicas that have been
// in breach for the whole termination delay, according to their pods.
import type { Pod } from '@grove/api'
import type { Client, Stored } from '@grove/kube'
import { isReady } from '../harness.ts'
import { cliqueOf, type Deletion, groupOf, groupReplicaOf, setReplicaOf } from './deletion.ts'
import { PodRecord } from './pod-record.ts'
import { setName, shape } from './shape.ts'

/** Timestamps have whole seconds, and this check observes pods slightly later than the API server. */
const toleranceMs = 1_500
/** Time between the operator's last read of the pods and its delete request. */
const justRecoveredMs = 1_000

interface Breach {
  readonly since: number
  /** The end of the breach. */
  readonly until?: number
}

export class TerminationCheck {
  readonly violations: string[] = []
  readonly record: PodRecord
  /** Terminated units, once per termination: "0" is a replica of the set, "0/1" is a replica of its scaling group. */
  readonly terminated: string[] = []
  /** UIDs of the pods of terminated units. */
  readonly #doomed = new Set<string>()
  readonly #delayMs: number
  /** The last breach of each clique. */
  readonly #breaches = new Map<string, Breach>()

  constructor(client: Client, namespace: string, delayMs: number) {
    this.#delayMs = delayMs
    this.record = new PodRecord(client, namespace, record => this.#look(record.known()))
  }

  async deletes(deletion: Deletion): Promise<void> {
    const pods = await this.record.standing()
    this.#look(pods)
    const going = pods.filter(deletion.selects)
    // The operator deletes pods of a terminated replica by name if the first request may have failed.
    const spared = going.filter(({ metadata }) => !this.#doomed.has(metadata.uid))
    if (!deletion.isCollection) {
      for (const { metadata } of spared)
        this.violations.push(`pod ${metadata.name} was deleted although the set is not being updated`)
      return
    }
    // The request that deletes the cliques selects the same pods.
    if (going.length === 0 || deletion.resource === 'pods') return
    for (const { metadata } of going) this.#doomed.add(metadata.uid)
    const isWhole = going.some(pod => !groupOf(pod))
    const units = Map.groupBy(going, pod =>
      isWhole ? setReplicaOf(pod) : `${setReplicaOf(pod)}/${groupReplicaOf(pod)}`,
    )
    for (const [unit, members] of units) {
      this.terminated.push(unit)
      if (!this.#isDue(members, isWhole)) this.violations.push(`${unit} was terminated without having to be`)
    }
  }

  /**
   * A set replica is terminated for a standalone clique or for too many broken group replicas; a group replica is
   * terminated for one of its members.
   */
  #isDue([pod]: readonly Stored<Pod>[], isWhole: boolean): boolean {
    // Compares names of cliques, because a broken pod may have been lost with its node in the meantime.
    const over = [...this.#breaches.keys()].filter(clique => this.#isOver(clique))
    if (!isWhole) return over.some(clique => clique.startsWith(`${groupOf(pod!)}-${groupReplicaOf(pod!)}-`))
    const own = over.filter(clique => clique.startsWith(`${setName}-${setReplicaOf(pod!)}-`))
    if (own.some(clique => clique.endsWith('-web'))) return true
    const broken = new Set(own.map(clique => clique.split('-').at(-2)))
    return shape.group.replicas - broken.size < shape.group.minAvailable
  }

  #isOver(clique: string): boolean {
    const breach = this.#breaches.get(clique)
    if (!breach) return false
    const now = Date.now()
    if (breach.until !== undefined && now - breach.until > justRecoveredMs + this.record.staleMs) return false
    return (breach.until ?? now) - breach.since >= this.#delayMs - toleranceMs
  }

  #look(pods: readonly Stored<Pod>[]): void {
    const now = Date.now()
    const byClique = Map.groupBy(pods, cliqueOf)
    for (const clique of new Set([...byClique.keys(), ...this.#breaches.keys()])) {
      const breach = this.#breaches.get(clique)
      const isBreached = isInBreach(byClique.get(clique) ?? [])
      if (isBreached && (!breach || breach.until !== undefined)) this.#breaches.set(clique, { since: now })
      if (!isBreached && breach && breach.until === undefined)
        this.#breaches.set(clique, { ...breach, until: now })
    }
  }
}

const minima: Readonly<Record<string, number>> = {
  web: shape.web.minAvailable,
  lead: shape.members.lead.minAvailable,
  work: shape.members.work.minAvailable,
}

/** Reports whether some pods are scheduled, and fewer than the minimum are ready or starting. */
function isInBreach(pods: readonly Stored<Pod>[]): boolean {
  const scheduled = pods.filter(({ status }) =>
    (status?.conditions ?? []).some(one => one.type === 'PodScheduled' && one.status === 'True'),
  )
  const useless = scheduled.filter(
    pod =>
      !isReady(pod) && (pod.status?.containerStatuses ?? []).some(({ started, ready }) => started && !ready),
  )
  const least = minima[pods[0]?.spec?.containers[0]?.name ?? ''] ?? 0
  return scheduled.length > 0 && scheduled.length - useless.length < least
}
