// SPDX-License-Identifier: Apache-2.0

// A round of a campaign: sets that are updated and sets whose pods fail, side by side under one operator,
// while nodes go, pods are killed, the operator is killed and paused, its watches are late and its writes are
// refused. What strikes when follows from a seed, counted in writes of the operator, so that every phase is
// struck.
import assert from 'node:assert/strict'
import type { Pod } from '@grove/api'
import { type Client, defineResource, isNotFound, type KubeObject, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { Stage } from '../stage.ts'
import { deletionOf, isStanding } from './deletion.ts'
import type { Faults } from './faults.ts'
import { type Below, begin, type Life, TerminationLife, terminationDelayMs, UpdateLife } from './lives.ts'
import { keepScene } from './scene.ts'
import { setName } from './shape.ts'

/** The operator of a campaign, wherever it runs. */
export interface OperatorUnderFire {
  readonly faults: Faults
  /** What it said so far, and the one before it. */
  readonly output?: string
  /** Dies without a word; another one comes. */
  kill(): Promise<void>
  /** Does nothing for a while, and does not know it. */
  pause(ms: number): Promise<void>
}

export interface Battlefield {
  readonly client: Client
  readonly operator: OperatorUnderFire
  newNamespace(): Promise<string>
}

const writesOfAnUpdate = 120
const longestPauseMs = 1_500
const quietAfterMs = 1_500

export async function round(field: Battlefield, below: Below): Promise<void> {
  const { faults } = field.operator
  const lives = await Promise.all([
    makeLife(field, stage => new UpdateLife(stage, below, () => someWrites(faults, below))),
    makeLife(field, stage => new TerminationLife(stage, below)),
    makeLife(field, stage => new TerminationLife(stage, below)),
  ])
  const story: string[] = []
  faults.onDeletion = async request => {
    const deletion = deletionOf(request)
    const life = lives.find(({ stage }) => stage.namespace === deletion?.namespace)
    if (!life) return
    const before = life.judge.violations.length
    await life.judge.deletes(deletion!)
    if (life.judge.violations.length > before)
      story.push(...faults.writes.filter(write => write.includes(life.stage.namespace)).slice(-30))
  }
  try {
    await Promise.all(
      lives.map(life => begin(life, life instanceof UpdateLife ? '1h' : `${terminationDelayMs}ms`)),
    )
    faults.refuseOneIn = 5 + below(20)
    faults.lateMs = below(3) * 50
    story.push(`one write in ${faults.refuseOneIn} is refused, watches are up to ${faults.lateMs} ms late`)
    await all([...lives.map(life => life.happens()), strike(field, lives, below, story)])
    faults.refuseOneIn = 20
    await Promise.all(lives.map(life => life.ends()))
    for (const { name, judge } of lives) assert.deepEqual(judge.violations, [], name)
  } catch (error) {
    const violations = lives.flatMap(({ name, judge }) => judge.violations.map(text => `${name}: ${text}`))
    const stages = lives.map(({ stage }) => stage)
    const kept = await keepScene({ stages, writes: faults.writes, output: field.operator.output ?? '' })
    const text = [(error as Error).message, ...violations, ...story, `kept in ${kept}`].join('\n  ')
    throw new Error(text, { cause: error })
  } finally {
    faults.refuseOneIn = 0
    faults.lateMs = 0
    faults.onDeletion = async () => {}
    await Promise.all(lives.map(life => leave(life)))
  }
}

/** Waits for all of it, also when one goes wrong: nobody is to go on striking afterwards. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(work)
  const reasons = ends
    .filter(({ status }) => status === 'rejected')
    .map(end => (end as PromiseRejectedResult).reason)
  if (reasons.length > 0)
    throw new AggregateError(reasons, reasons.map(({ message }) => message).join('\n  '))
}

async function makeLife(field: Battlefield, make: (stage: Stage) => Life): Promise<Life> {
  const namespace = await field.newNamespace()
  return make(new Stage({ client: field.client, operatorClient: field.client, namespace, writes: [] }))
}

async function leave({ stage, judge }: Life): Promise<void> {
  await judge.diary.close()
  await stage.deleteSet(setName).catch(error => {
    if (!isNotFound(error)) throw error
  })
}

function someWrites(faults: Faults, below: Below): Promise<void> {
  return faults.afterWrites(below(writesOfAnUpdate), quietAfterMs)
}

/** Two or three blows, each at any moment of what is under way. */
async function strike(
  field: Battlefield,
  lives: readonly Life[],
  below: Below,
  story: string[],
): Promise<void> {
  const { operator } = field
  const blows = [
    ['the operator is killed', () => operator.kill()],
    ['the operator is paused', () => pause(operator, lives, 200 + below(longestPauseMs - 200))],
    ['a pod is killed', () => killPod(field, lives[below(lives.length)]!, below)],
    ['a node is lost', () => loseNode(field, lives, below)],
  ] as const
  for (let left = 2 + below(2); left > 0; left--) {
    await someWrites(operator.faults, below)
    const [what, blow] = blows[below(blows.length)]!
    story.push(what)
    await blow()
  }
}

async function pause(operator: OperatorUnderFire, lives: readonly Life[], ms: number): Promise<void> {
  for (const { judge } of lives) judge.diary.operatorSleeps(ms)
  await operator.pause(ms)
}

async function killPod({ client }: Battlefield, { stage, judge }: Life, below: Below): Promise<void> {
  const pods = (await stage.pods(setName)).filter(isStanding)
  const pod = pods[below(pods.length)]
  if (!pod) return
  judge.diary.hurts(pod)
  const { name, namespace = '' } = pod.metadata
  try {
    await client.delete(resources.pods, { name, namespace })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

export const nodes = defineResource<KubeObject & { spec?: { taints?: object[] } }>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})
const lost = { key: 'example.com/lost', effect: 'NoExecute' }

/** Everything on a node has to go, and nothing comes there until it is back. */
async function loseNode({ client }: Battlefield, lives: readonly Life[], below: Below): Promise<void> {
  const standing = await Promise.all(lives.map(async life => ({ life, pods: await placed(life) })))
  const names = [...new Set(standing.flatMap(({ pods }) => pods.map(pod => pod.spec!.nodeName!)))].sort()
  const name = names[below(names.length)]
  if (!name) return
  for (const { life, pods } of standing)
    for (const pod of pods) if (pod.spec?.nodeName === name) life.judge.diary.hurts(pod)
  await client.patch(nodes, { name }, { merge: { spec: { taints: [lost] } } })
  await new Promise(resolve => setTimeout(resolve, 300 + below(700)))
  await client.patch(nodes, { name }, { merge: { spec: { taints: null } } })
}

async function placed({ stage }: Life): Promise<Stored<Pod>[]> {
  return (await stage.pods(setName)).filter(pod => isStanding(pod) && pod.spec?.nodeName)
}
