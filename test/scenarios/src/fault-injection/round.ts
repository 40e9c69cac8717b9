// SPDX-License-Identifier: Apache-2.0

// A round of fault injection. Under one operator, some sets are updated and pods of other sets fail. Meanwhile nodes
// are lost, pods are deleted, the operator is killed and paused, its watches are delayed and its writes are rejected.
// The seed chooses the faults. Their times are counted in writes of the operator, so that they hit every phase.
import assert from 'node:assert/strict'
import type { Pod } from '@grove/api'
import { type Client, defineResource, isNotFound, type KubeObject, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { Harness } from '../harness.ts'
import { deletionOf, isStanding } from './deletion.ts'
import { dumpFailure } from './failure-dump.ts'
import type { Faults } from './faults.ts'
import { type Below, begin, type SetRun, TerminationRun, terminationDelayMs, UpdateRun } from './runs.ts'
import { setName } from './shape.ts'

/** The operator of a round, in this process or in its own. */
export interface OperatorUnderTest {
  readonly faults: Faults
  /** Log of this operator and the one before it. */
  readonly output?: string
  /** Kills the operator and starts another one. */
  kill(): Promise<void>
  /** Pauses the operator for a while, without its knowledge. */
  pause(ms: number): Promise<void>
}

export interface FaultFixture {
  readonly client: Client
  readonly operator: OperatorUnderTest
  newNamespace(): Promise<string>
}

const writesOfAnUpdate = 120
const longestPauseMs = 1_500
const quietAfterMs = 1_500

export async function round(fixture: FaultFixture, below: Below): Promise<void> {
  const { faults } = fixture.operator
  const runs = await Promise.all([
    startRun(fixture, harness => new UpdateRun(harness, below, () => someWrites(faults, below))),
    startRun(fixture, harness => new TerminationRun(harness, below)),
    startRun(fixture, harness => new TerminationRun(harness, below)),
  ])
  const log: string[] = []
  faults.onDeletion = async request => {
    const deletion = deletionOf(request)
    const run = runs.find(({ harness }) => harness.namespace === deletion?.namespace)
    if (!run) return
    const before = run.check.violations.length
    await run.check.deletes(deletion!)
    if (run.check.violations.length > before)
      log.push(...faults.writes.filter(write => write.includes(run.harness.namespace)).slice(-30))
  }
  try {
    await Promise.all(
      runs.map(run => begin(run, run instanceof UpdateRun ? '1h' : `${terminationDelayMs}ms`)),
    )
    faults.rejectOneIn = 5 + below(20)
    faults.lateMs = below(3) * 50
    log.push(`one write in ${faults.rejectOneIn} is rejected, watches are up to ${faults.lateMs} ms late`)
    await all([...runs.map(run => run.act()), disruptRandomly(fixture, runs, below, log)])
    faults.rejectOneIn = 20
    await Promise.all(runs.map(run => run.untilDone()))
    for (const { name, check } of runs) assert.deepEqual(check.violations, [], name)
  } catch (error) {
    const violations = runs.flatMap(({ name, check }) => check.violations.map(text => `${name}: ${text}`))
    const harnesses = runs.map(({ harness }) => harness)
    const kept = await dumpFailure({
      harnesses,
      writes: faults.writes,
      output: fixture.operator.output ?? '',
    })
    const text = [(error as Error).message, ...violations, ...log, `kept in ${kept}`].join('\n  ')
    throw new Error(text, { cause: error })
  } finally {
    faults.rejectOneIn = 0
    faults.lateMs = 0
    faults.onDeletion = async () => {}
    await Promise.all(runs.map(run => leave(run)))
  }
}

/** Waits for all promises, also if one rejects: no disruption may follow the end of a round. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(work)
  const reasons = ends
    .filter(({ status }) => status === 'rejected')
    .map(end => (end as PromiseRejectedResult).reason)
  if (reasons.length > 0)
    throw new AggregateError(reasons, reasons.map(({ message }) => message).join('\n  '))
}

async function startRun(fixture: FaultFixture, make: (harness: Harness) => SetRun): Promise<SetRun> {
  const namespace = await fixture.newNamespace()
  return make(new Harness({ client: fixture.client, operatorClient: fixture.client, namespace, writes: [] }))
}

async function leave({ harness, check }: SetRun): Promise<void> {
  await check.record.close()
  await harness.deleteSet(setName).catch(error => {
    if (!isNotFound(error)) throw error
  })
}

function someWrites(faults: Faults, below: Below): Promise<void> {
  return faults.afterWrites(below(writesOfAnUpdate), quietAfterMs)
}

/** Causes two or three disruptions at random times. */
async function disruptRandomly(
  fixture: FaultFixture,
  runs: readonly SetRun[],
  below: Below,
  log: string[],
): Promise<void> {
  const { operator } = fixture
  const disruptions = [
    ['the operator is killed', () => operator.kill()],
    ['the operator is paused', () => pause(operator, runs, 200 + below(longestPauseMs - 200))],
    ['a pod is killed', () => killPod(fixture, runs[below(runs.length)]!, below)],
    ['a node is lost', () => loseNode(fixture, runs, below, log)],
  ] as const
  for (let left = 2 + below(2); left > 0; left--) {
    await someWrites(operator.faults, below)
    const [what, disrupt] = disruptions[below(disruptions.length)]!
    log.push(what)
    await disrupt()
  }
}

async function pause(operator: OperatorUnderTest, runs: readonly SetRun[], ms: number): Promise<void> {
  for (const { check } of runs) check.record.operatorSleeps(ms)
  await operator.pause(ms)
}

async function killPod({ client }: FaultFixture, { harness, check }: SetRun, below: Below): Promise<void> {
  const pods = (await harness.pods(setName)).filter(isStanding)
  const pod = pods[below(pods.length)]
  if (!pod) return
  check.record.hurts(pod)
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

/** Evicts all pods of a node and keeps it unschedulable for a while. */
async function loseNode(
  { client }: FaultFixture,
  runs: readonly SetRun[],
  below: Below,
  log: string[],
): Promise<void> {
  const pods = (await Promise.all(runs.map(scheduledPods))).flat()
  const names = [...new Set(pods.map(pod => pod.spec!.nodeName!))].sort()
  const name = names[below(names.length)]
  if (!name) return
  log.push(`it is ${name}`)
  for (const { check } of runs) check.record.losesNode(name)
  await client.patch(nodes, { name }, { merge: { spec: { taints: [lost] } } })
  await new Promise(resolve => setTimeout(resolve, 300 + below(700)))
  await client.patch(nodes, { name }, { merge: { spec: { taints: null } } })
  for (const { check } of runs) await check.record.regainsNode(name)
}

async function scheduledPods({ harness }: SetRun): Promise<Stored<Pod>[]> {
  return (await harness.pods(setName)).filter(pod => isStanding(pod) && pod.spec?.nodeName)
}
