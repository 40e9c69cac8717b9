// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { PodClique } from '@grove/api'
import { Harness } from '../harness.ts'
import { report } from '../scenarios/gang-termination.ts'
import { cliqueOf } from './deletion.ts'
import type { FaultFixture } from './round.ts'
import { allPods, manifest, setName } from './shape.ts'

const delayMs = 3_000
/** Enough time for the operator to carry out a termination that is due. */
const sequelMs = 1_500

/**
 * Pauses the operator past a termination deadline. When it continues, its timers run before its watches deliver the
 * recovery. The recovered replica must not be terminated.
 */
export async function recoversWhilePaused({ client, operator, newNamespace }: FaultFixture): Promise<void> {
  const harness = new Harness({ client, operatorClient: client, namespace: await newNamespace(), writes: [] })
  await harness.apply(manifest(`${delayMs}ms`))
  const before = await harness.untilReady(setName, allPods)
  await harness.untilAvailable(setName, 2)
  const broken = before.filter(pod => cliqueOf(pod) === `${setName}-0-web`)
  for (const pod of broken) await report(harness, pod, false)
  await harness.until('the breach to be noticed', () => harness.cliques(setName), some(isBreached))
  await Promise.all([
    operator.pause(delayMs + 500),
    (async () => {
      for (const pod of broken) await report(harness, pod, true)
    })(),
  ])
  await harness.until('the recovery to be noticed', () => harness.cliques(setName), every(isNotBreached))
  await new Promise(resolve => setTimeout(resolve, sequelMs))
  const uids = (pods: typeof before) => pods.map(({ metadata }) => metadata.uid).sort()
  assert.deepEqual(uids(await harness.pods(setName)), uids(before))
  await harness.deleteSet(setName)
}

const breachOf = ({ status }: PodClique) =>
  status?.conditions?.find(({ type }) => type === 'MinAvailableBreached')?.status
const isBreached = (clique: PodClique) => breachOf(clique) === 'True'
const isNotBreached = (clique: PodClique) => breachOf(clique) === 'False'
const some = (holds: (clique: PodClique) => boolean) => (cliques: readonly PodClique[]) => cliques.some(holds)
const every = (holds: (clique: PodClique) => boolean) => (cliques: readonly PodClique[]) =>
  cliques.every(holds)
