// SPDX-License-Identifier: Apache-2.0

// The actions on one set during a round, and the expected result.
import assert from 'node:assert/strict'
import type { CliqueTemplate, Pod } from '@grove/api'
import { isNotFound, type Stored } from '@grove/kube'
import { type Harness, isReady, patienceMs } from '../harness.ts'
import { report } from '../scenarios/gang-termination.ts'
import { imageOf, untilUpdated } from '../scenarios/updates.ts'
import { cliqueOf, type Deletion, groupReplicaOf, isStanding, setReplicaOf } from './deletion.ts'
import type { PodRecord } from './pod-record.ts'
import { allPods, firstImages, manifest, setName, shape } from './shape.ts'
import { TerminationCheck } from './termination-check.ts'
import { UpdateCheck } from './update-check.ts'

export type Below = (limit: number) => number

export interface SetRun {
  readonly name: string
  readonly harness: Harness
  readonly check: {
    readonly record: PodRecord
    readonly violations: string[]
    deletes(deletion: Deletion): Promise<void>
  }
  /** Edits the set, or makes its pods fail. */
  act(): Promise<void>
  /** Waits for the final state and checks it. */
  untilDone(): Promise<void>
}

export async function begin({ harness, check }: SetRun, terminationDelay: string): Promise<void> {
  await harness.apply(manifest(terminationDelay))
  await harness.untilReady(setName, allPods)
  await harness.untilAvailable(setName, 2)
  await check.record.open()
}

/** Edits the templates several times, each time to new images. */
export class UpdateRun implements SetRun {
  readonly name = 'updated'
  readonly harness: Harness
  readonly check: UpdateCheck
  readonly #below: Below
  readonly #pause: () => Promise<void>

  constructor(harness: Harness, below: Below, pause: () => Promise<void>) {
    this.harness = harness
    this.check = new UpdateCheck(harness.client, harness.namespace, firstImages)
    this.#below = below
    this.#pause = pause
  }

  async act(): Promise<void> {
    const edits = 1 + this.#below(3)
    for (let edit = 2; edit <= edits + 1; edit++) {
      const parts = [['web'], ['lead', 'work'], ['web', 'lead', 'work']][this.#below(3)]!
      const images = new Map(parts.map(name => [name, `registry.example/${name}:${edit}`]))
      for (const [name, image] of images) this.check.wanted.set(name, image)
      await this.#edit(images)
      await this.#pause()
    }
  }

  async untilDone(): Promise<void> {
    await untilUpdated(this.harness, setName)
    const pods = await this.harness.untilReady(setName, allPods)
    for (const pod of pods)
      assert.equal(imageOf(pod), this.check.wanted.get(pod.spec!.containers[0]!.name), pod.metadata.name)
  }

  async #edit(images: ReadonlyMap<string, string>): Promise<void> {
    await insisting(async () => {
      const set = await this.harness.set(setName)
      const cliques = structuredClone(set!.spec.template.cliques) as CliqueTemplate[]
      for (const { name, spec } of cliques)
        spec.podSpec.containers[0]!.image = images.get(name) ?? spec.podSpec.containers[0]!.image
      await this.harness.patchSet(setName, { spec: { template: { cliques } } })
    })
  }
}

export const terminationDelayMs = 3_000

/**
 * Makes pods unready, for good or for less than the termination delay. Either a clique or one group replica breaches
 * its minimum.
 */
export class TerminationRun implements SetRun {
  readonly name: string
  readonly harness: Harness
  readonly check: TerminationCheck
  readonly #recovers: boolean
  readonly #ofGroup: boolean
  #before: readonly Stored<Pod>[] = []
  /** True if the pods were ready again before the deadline. */
  #recoveredInTime = false

  constructor(harness: Harness, below: Below) {
    this.harness = harness
    this.check = new TerminationCheck(harness.client, harness.namespace, terminationDelayMs)
    this.#recovers = below(2) === 0
    this.#ofGroup = below(2) === 0
    this.name = `${this.#ofGroup ? 'group replica' : 'clique'} ${this.#recovers ? 'recovers' : 'stays broken'}`
  }

  async act(): Promise<void> {
    this.#before = await this.harness.pods(setName)
    const broken = this.#before.filter(pod =>
      this.#ofGroup
        ? pod.metadata.name.startsWith(`${setName}-0-eng-1-lead`)
        : cliqueOf(pod) === `${setName}-0-web`,
    )
    const began = Date.now()
    for (const pod of broken) await this.#report(pod, false)
    if (!this.#recovers) return
    await new Promise(resolve => setTimeout(resolve, terminationDelayMs * 0.4))
    for (const pod of broken) await this.#report(pod, true)
    this.#recoveredInTime = Date.now() - began < terminationDelayMs - 1_000
  }

  async untilDone(): Promise<void> {
    const after = await this.harness.until(
      `${allPods} ready pods of ${setName}`,
      async () => {
        await this.#endFaultWithoutBreach()
        return this.harness.pods(setName)
      },
      pods => pods.length === allPods && pods.every(isReady),
    )
    await this.harness.untilAvailable(setName, 2)
    const { terminated, record } = this.check
    // Other disruptions may also cause a breach while the operator is down. The check evaluates each of these
    // terminations.
    const disrupted = record.hurtPods().flatMap(unitsOf)
    const unexpected = terminated.filter(unit => !disrupted.includes(unit))
    const broken = this.#ofGroup ? '0/1' : '0'
    if (this.#recoveredInTime) assert.deepEqual(unexpected, [], 'the pods were ready again in time')
    for (const unit of unexpected) assert.equal(unit, broken, `${unit} was terminated, too`)
    const now = new Set(after.map(({ metadata }) => metadata.uid))
    const lost = this.#before.filter(
      pod => !now.has(pod.metadata.uid) && !record.wasHurt(pod.metadata.uid) && !this.#wasTerminated(pod),
    )
    assert.deepEqual(
      lost.map(({ metadata }) => metadata.name),
      [],
      'pods that were deleted without a reason',
    )
  }

  /**
   * Other disruptions may replace some of the broken pods. The clique then has its minimum again and is not
   * terminated, so the pods that are still broken would stay so for ever.
   */
  async #endFaultWithoutBreach(): Promise<void> {
    if (this.#ofGroup) return
    const pods = (await this.harness.pods(setName)).filter(
      pod => isStanding(pod) && cliqueOf(pod) === `${setName}-0-web`,
    )
    if (pods.filter(isReady).length < shape.web.minAvailable) return
    const broken = new Set(this.#before.map(({ metadata }) => metadata.uid))
    for (const pod of pods) if (broken.has(pod.metadata.uid)) await this.#report(pod, true)
  }

  #wasTerminated(pod: Stored<Pod>): boolean {
    return unitsOf(pod).some(unit => this.check.terminated.includes(unit))
  }

  async #report(pod: Stored<Pod>, ready: boolean): Promise<void> {
    const found = (await this.harness.pods(setName)).find(({ metadata }) => metadata.uid === pod.metadata.uid)
    // The pod may have been deleted meanwhile.
    if (!found || !isStanding(found) || isReady(found) === ready) return
    await report(this.harness, found, ready).catch(error => {
      if (!isNotFound(error)) throw error
    })
  }
}

/** Returns the units of termination that contain this pod, with the names that the check uses. */
function unitsOf(pod: Stored<Pod>): string[] {
  return [setReplicaOf(pod), `${setReplicaOf(pod)}/${groupReplicaOf(pod)}`]
}

/**
 * Retries an edit: webhooks fail while their operator is down, and an API server rejects edits that conflict too often.
 */
async function insisting(request: () => Promise<void>): Promise<void> {
  for (const end = Date.now() + patienceMs; ; )
    try {
      return await request()
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise(resolve => setTimeout(resolve, 100))
    }
}
