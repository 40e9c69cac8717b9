// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { PodClique } from '@grove/api'
import { Stage } from '../stage.ts'
import { report } from '../stories/gang-termination.ts'
import type { Battlefield } from './campaign.ts'
import { cliqueOf } from './deletion.ts'
import { allPods, manifest, setName } from './shape.ts'

const delayMs = 3_000
/** Long enough for an operator to do what it has been waiting for. */
const sequelMs = 1_500

/**
 * An operator that sleeps past a deadline wakes up with its timers first: what recovered meanwhile must not
 * suffer.
 */
export async function recoversWhilePaused({ client, operator, newNamespace }: Battlefield): Promise<void> {
  const stage = new Stage({ client, operatorClient: client, namespace: await newNamespace(), writes: [] })
  await stage.apply(manifest(`${delayMs}ms`))
  const before = await stage.untilReady(setName, allPods)
  await stage.untilAvailable(setName, 2)
  const broken = before.filter(pod => cliqueOf(pod) === `${setName}-0-web`)
  for (const pod of broken) await report(stage, pod, false)
  await stage.until('the breach to be noticed', () => stage.cliques(setName), some(isBreached))
  await Promise.all([
    operator.pause(delayMs + 500),
    (async () => {
      for (const pod of broken) await report(stage, pod, true)
    })(),
  ])
  await stage.until('the recovery to be noticed', () => stage.cliques(setName), every(isNotBreached))
  await new Promise(resolve => setTimeout(resolve, sequelMs))
  const uids = (pods: typeof before) => pods.map(({ metadata }) => metadata.uid).sort()
  assert.deepEqual(uids(await stage.pods(setName)), uids(before))
  await stage.deleteSet(setName)
}

const breachOf = ({ status }: PodClique) =>
  status?.conditions?.find(({ type }) => type === 'MinAvailableBreached')?.status
const isBreached = (clique: PodClique) => breachOf(clique) === 'True'
const isNotBreached = (clique: PodClique) => breachOf(clique) === 'False'
const some = (holds: (clique: PodClique) => boolean) => (cliques: readonly PodClique[]) => cliques.some(holds)
const every = (holds: (clique: PodClique) => boolean) => (cliques: readonly PodClique[]) =>
  cliques.every(holds)
