// SPDX-License-Identifier: Apache-2.0

// Checks every deletion by the operator during updates: it deletes only outdated pods, one serving unit at a time, and
// never leaves fewer ready pods than minAvailable.
import type { Pod } from '@grove/api'
import type { Client, Stored } from '@grove/kube'
import { isReady } from '../harness.ts'
import { cliqueOf, type Deletion, groupOf, groupReplicaOf, indexOf, setReplicaOf } from './deletion.ts'
import { PodRecord } from './pod-record.ts'
import { type Shape, shape } from './shape.ts'

interface Taken {
  readonly setReplica: string
  /** The clique of a pod, or the scaling group of a group replica. */
  readonly of: string
  readonly uids: ReadonlySet<string>
  isBack(pods: readonly Stored<Pod>[]): boolean
}

export class UpdateCheck {
  readonly violations: string[] = []
  readonly record: PodRecord
  /** The last requested image of each clique template. */
  readonly wanted: Map<string, string>
  /** Serving units that were deleted and are not ready again. */
  readonly #taken = new Map<string, Taken>()

  constructor(client: Client, namespace: string, wanted: ReadonlyMap<string, string>) {
    this.wanted = new Map(wanted)
    this.record = new PodRecord(client, namespace, record => this.#look(record.known()))
  }

  async deletes(deletion: Deletion): Promise<void> {
    const pods = await this.record.standing()
    this.#look(pods)
    const going = pods.filter(deletion.selects)
    const units = Map.groupBy(going, pod =>
      groupOf(pod) ? `${groupOf(pod)}/${groupReplicaOf(pod)}` : `${cliqueOf(pod)}/${indexOf(pod)}`,
    )
    if (units.size && deletion.isCollection && going.some(pod => !groupOf(pod)))
      this.#violates('a whole replica of the set was deleted')
    for (const [unit, members] of units)
      if (groupOf(members[0]!)) this.#takesGroupReplica(unit, members, pods)
      else this.#takesPod(unit, members[0]!, pods)
  }

  #takesPod(unit: string, pod: Stored<Pod>, pods: readonly Stored<Pod>[]): void {
    if (this.#isUpToDate(pod)) this.#violates(`pod ${pod.metadata.name} is up to date and was deleted`)
    if (!this.record.isKnownReady(pod)) return
    const of = cliqueOf(pod)
    const { minAvailable } = shape.web
    const serving = this.#served(pods).filter(one => cliqueOf(one) === of && one !== pod).length
    if (serving < minAvailable)
      this.#violates(`${serving} pods of ${of} were left, of ${minAvailable}: ${this.record.describe(of)}`)
    this.#takes(unit, {
      setReplica: setReplicaOf(pod),
      of,
      uids: new Set([pod.metadata.uid]),
      isBack: now => now.some(one => cliqueOf(one) === of && indexOf(one) === indexOf(pod) && isReady(one)),
    })
  }

  #takesGroupReplica(unit: string, members: readonly Stored<Pod>[], pods: readonly Stored<Pod>[]): void {
    if (members.every(pod => this.#isUpToDate(pod)))
      this.#violates(`group replica ${unit} is up to date and was deleted`)
    const known = pods.filter(pod => this.record.isKnownReady(pod))
    const of = groupOf(members[0]!)!
    const index = groupReplicaOf(members[0]!)
    if (!serves(known, of, index, shape)) return
    const { replicas, minAvailable } = shape.group
    const others = Array.from({ length: replicas }, (_, at) => String(at)).filter(
      at => at !== index && serves(this.#served(pods), of, at, shape),
    )
    if (others.length < minAvailable)
      this.#violates(
        `${others.length} replicas of ${of} were left, of ${minAvailable}: ${this.record.describe(of)}`,
      )
    this.#takes(unit, {
      setReplica: setReplicaOf(members[0]!),
      of,
      uids: new Set(members.map(({ metadata }) => metadata.uid)),
      isBack: now => serves(now, of, index, shape),
    })
  }

  #takes(unit: string, taken: Taken): void {
    for (const [other, { of, setReplica }] of this.#taken)
      if (other !== unit && (of === taken.of || setReplica !== taken.setReplica))
        this.#violates(`${unit} was deleted before ${other} was back`)
    this.#taken.set(unit, taken)
  }

  /** Returns pods that are ready, and pods that were ready at the operator's last observation. */
  #served(pods: readonly Stored<Pod>[]): Stored<Pod>[] {
    const standing = new Set(pods.map(({ metadata }) => metadata.uid))
    return [
      ...pods.filter(isReady),
      ...this.record.justHurt().filter(({ metadata }) => !standing.has(metadata.uid)),
    ]
  }

  #look(pods: readonly Stored<Pod>[]): void {
    // A deleted pod stays ready until it terminates.
    for (const [unit, { uids, isBack }] of this.#taken)
      if (isBack(pods.filter(({ metadata }) => !uids.has(metadata.uid)))) this.#taken.delete(unit)
  }

  #isUpToDate({ spec }: Pod): boolean {
    const [container] = spec?.containers ?? []
    return this.wanted.get(container?.name ?? '') === container?.image
  }

  #violates(text: string): void {
    this.violations.push(text)
  }
}

function serves(pods: readonly Stored<Pod>[], group: string, replica: string, { members }: Shape): boolean {
  const mine = pods.filter(pod => groupOf(pod) === group && groupReplicaOf(pod) === replica && isReady(pod))
  return Object.entries(members).every(
    ([name, { minAvailable }]) =>
      mine.filter(pod => pod.spec?.containers[0]?.name === name).length >= minAvailable,
  )
}
