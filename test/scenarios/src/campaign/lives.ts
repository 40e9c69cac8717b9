// SPDX-License-Identifier: Apache-2.0

// What happens to one set of a campaign, whatever else goes wrong meanwhile.
import assert from 'node:assert/strict'
import type { CliqueTemplate, Pod } from '@grove/api'
import type { Stored } from '@grove/kube'
import { isReady, patienceMs, type Stage } from '../stage.ts'
import { report } from '../stories/gang-termination.ts'
import { imageOf, untilUpdated } from '../stories/updates.ts'
import { cliqueOf, type Deletion, groupReplicaOf, isStanding, setReplicaOf } from './deletion.ts'
import type { PodDiary } from './pod-diary.ts'
import { allPods, firstImages, manifest, setName } from './shape.ts'
import { TerminationJudge } from './termination-judge.ts'
import { UpdateJudge } from './update-judge.ts'

export type Below = (limit: number) => number

export interface Life {
  readonly name: string
  readonly stage: Stage
  readonly judge: {
    readonly diary: PodDiary
    readonly violations: string[]
    deletes(deletion: Deletion): Promise<void>
  }
  /** What its author does to it, or its pods do by themselves. */
  happens(): Promise<void>
  /** Everything is as it should be. */
  ends(): Promise<void>
}

export async function begin({ stage, judge }: Life, terminationDelay: string): Promise<void> {
  await stage.apply(manifest(terminationDelay))
  await stage.untilReady(setName, allPods)
  await stage.untilAvailable(setName, 2)
  await judge.diary.open()
}

/** Edited several times, each time to images that nobody has seen before. */
export class UpdateLife implements Life {
  readonly name = 'updated'
  readonly stage: Stage
  readonly judge: UpdateJudge
  readonly #below: Below
  readonly #pause: () => Promise<void>

  constructor(stage: Stage, below: Below, pause: () => Promise<void>) {
    this.stage = stage
    this.judge = new UpdateJudge(stage.client, stage.namespace, firstImages)
    this.#below = below
    this.#pause = pause
  }

  async happens(): Promise<void> {
    const edits = 1 + this.#below(3)
    for (let edit = 2; edit <= edits + 1; edit++) {
      const parts = [['web'], ['lead', 'work'], ['web', 'lead', 'work']][this.#below(3)]!
      const images = new Map(parts.map(name => [name, `registry.example/${name}:${edit}`]))
      for (const [name, image] of images) this.judge.wanted.set(name, image)
      await this.#edit(images)
      await this.#pause()
    }
  }

  async ends(): Promise<void> {
    await untilUpdated(this.stage, setName)
    const pods = await this.stage.untilReady(setName, allPods)
    for (const pod of pods)
      assert.equal(imageOf(pod), this.judge.wanted.get(pod.spec!.containers[0]!.name), pod.metadata.name)
  }

  async #edit(images: ReadonlyMap<string, string>): Promise<void> {
    await insisting(async () => {
      const set = await this.stage.set(setName)
      const cliques = structuredClone(set!.spec.template.cliques) as CliqueTemplate[]
      for (const { name, spec } of cliques)
        spec.podSpec.containers[0]!.image = images.get(name) ?? spec.podSpec.containers[0]!.image
      await this.stage.patchSet(setName, { spec: { template: { cliques } } })
    })
  }
}

export const terminationDelayMs = 3_000

/**
 * Pods stop serving: for good, or only for less than the delay; so many that their replica is lost, or one of
 * a group.
 */
export class TerminationLife implements Life {
  readonly name: string
  readonly stage: Stage
  readonly judge: TerminationJudge
  readonly #recovers: boolean
  readonly #ofGroup: boolean
  #before: readonly Stored<Pod>[] = []
  /** Whether it was well again before its time was over. */
  #recoveredInTime = false

  constructor(stage: Stage, below: Below) {
    this.stage = stage
    this.judge = new TerminationJudge(stage.client, stage.namespace, terminationDelayMs)
    this.#recovers = below(2) === 0
    this.#ofGroup = below(2) === 0
    this.name = `${this.#ofGroup ? 'group replica' : 'clique'} ${this.#recovers ? 'recovers' : 'stays broken'}`
  }

  async happens(): Promise<void> {
    this.#before = await this.stage.pods(setName)
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

  async ends(): Promise<void> {
    const after = await this.stage.untilReady(setName, allPods)
    await this.stage.untilAvailable(setName, 2)
    const { terminated, diary } = this.judge
    // Others may have been hurt, and nobody there for too long to make up for it.
    const expected = [this.#ofGroup ? '0/1' : '0', ...diary.hurtPods().flatMap(unitsOf)]
    for (const unit of terminated) assert.ok(expected.includes(unit), `${unit} was terminated, too`)
    if (this.#recoveredInTime) assert.deepEqual(terminated, [], 'it was well again in time')
    const now = new Set(after.map(({ metadata }) => metadata.uid))
    const lost = this.#before.filter(
      pod => !now.has(pod.metadata.uid) && !diary.wasHurt(pod.metadata.uid) && !this.#wasTerminated(pod),
    )
    assert.deepEqual(
      lost.map(({ metadata }) => metadata.name),
      [],
      'pods that went without a reason',
    )
  }

  #wasTerminated(pod: Stored<Pod>): boolean {
    return unitsOf(pod).some(unit => this.judge.terminated.includes(unit))
  }

  async #report(pod: Stored<Pod>, ready: boolean): Promise<void> {
    const found = (await this.stage.pods(setName)).find(({ metadata }) => metadata.uid === pod.metadata.uid)
    // Somebody may have killed it meanwhile.
    if (found && isStanding(found) && isReady(found) !== ready) await report(this.stage, found, ready)
  }
}

/** What is taken down as a whole and has this pod in it, as the judge calls it. */
function unitsOf(pod: Stored<Pod>): string[] {
  return [setReplicaOf(pod), `${setReplicaOf(pod)}/${groupReplicaOf(pod)}`]
}

/** Webhooks are as dead as their operator, and an API server gives up on edits that come too often. */
async function insisting(request: () => Promise<void>): Promise<void> {
  for (const end = Date.now() + patienceMs; ; )
    try {
      return await request()
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise(resolve => setTimeout(resolve, 100))
    }
}
