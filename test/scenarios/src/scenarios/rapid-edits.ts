// SPDX-License-Identifier: Apache-2.0

// Bursts of edits by controllers and users: dozens within two seconds, several at the same time, in any order.
import assert from 'node:assert/strict'
import type { CliqueTemplate, Pod } from '@grove/api'
import { isConflict, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { seeded } from '../seeded.ts'
import { grouped } from './manifests.ts'
import { imageOf, uids, untilUpdated, withImage } from './updates.ts'

const name = 'grouped'
const edits = 50
/** Concurrent requests: enough for a random order of arrival. */
const atOnce = 8

type Edit = (cliques: CliqueTemplate[]) => CliqueTemplate[]

const withVolumes = grouped.replaceAll(
  'podSpec: {containers',
  'podSpec: {volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}], containers',
)

/** Equivalent notations of the same pods. */
const harmless: readonly Edit[] = [
  cliques => cliques.toReversed(),
  cliques => each(cliques, ({ spec }) => spec.podSpec.volumes?.reverse()),
  cliques =>
    each(cliques, ({ spec }) => {
      spec.replicas = (spec.minAvailable ?? 1) + (spec.replicas % 3)
    }),
  cliques =>
    each(cliques, ({ spec }) => {
      spec.podSpec.dnsPolicy = 'ClusterFirst'
      spec.podSpec.nodeSelector = {}
      spec.podSpec.containers[0]!.resources = {}
    }),
  cliques =>
    each(cliques, clique => {
      clique.annotations = {}
      clique.spec.podSpec.terminationGracePeriodSeconds = 30
      clique.spec.podSpec.volumes = [{ name: 'b' }, { name: 'a', emptyDir: {} }]
    }),
]

const image = (version: number) => `registry.example/engine:${version}`

function each(cliques: CliqueTemplate[], change: (clique: CliqueTemplate) => unknown): CliqueTemplate[] {
  for (const clique of cliques) change(clique)
  return cliques
}

/** Sends this number of edits of the same object, several at a time. */
async function burst(
  harness: Harness,
  random: (below: number) => number,
  choices: readonly Edit[],
): Promise<void> {
  const { spec } = (await harness.set(name))!
  let left = edits
  const sender = async () => {
    while (left-- > 0) {
      const cliques = choices[random(choices.length)]!(structuredClone(spec.template.cliques))
      await insisting(() => harness.patchSet(name, { spec: { template: { cliques } } }))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sender))
}

/** An API server rejects a patch after too many conflicts. */
async function insisting(request: () => Promise<void>): Promise<void> {
  for (;;)
    try {
      return await request()
    } catch (error) {
      if (!isConflict(error)) throw error
    }
}

async function untilSeen(harness: Harness): Promise<void> {
  await harness.until(
    'the last edit to be observed',
    () => harness.set(name),
    set => set?.status?.observedGeneration === set?.metadata.generation,
  )
  await harness.untilQuiet()
}

async function onlyNotation(harness: Harness, seed: number): Promise<void> {
  await harness.apply(withVolumes)
  const before = await harness.untilReady(name, 10)
  await harness.untilAvailable(name, 1)
  const scaling = (async () => {
    for (const replicas of [1, 3, 4, 3])
      await insisting(() => harness.scale(resources.podCliques as never, `${name}-0-router`, replicas))
  })()
  await burst(harness, seeded(seed), harmless)
  await scaling
  await untilSeen(harness)
  const after = await harness.untilReady(name, 11)
  const routers = (pods: readonly Stored<Pod>[]) => pods.filter(pod => imageOf(pod)?.includes('router'))
  const others = (pods: readonly Stored<Pod>[]) => pods.filter(pod => !imageOf(pod)?.includes('router'))
  assert.deepEqual(uids(others(after)), uids(others(before)))
  // The first router exists at every count.
  assert.ok(uids(routers(before)).some(uid => uids(routers(after)).includes(uid)))
  assert.equal((await harness.set(name))!.status?.updateProgress, undefined)
  const router = (await harness.cliques(name)).find(({ metadata }) => metadata.name === `${name}-0-router`)!
  assert.equal(router.spec.replicas, 3)
  await harness.until(
    'the status of the clique to count three pods',
    () => harness.cliques(name),
    cliques => {
      const status = cliques.find(({ metadata }) => metadata.name === `${name}-0-router`)?.status
      return [status?.replicas, status?.readyReplicas, status?.updatedReplicas].join() === '3,3,3'
    },
  )
}

async function manyTemplates(harness: Harness, seed: number): Promise<void> {
  await harness.apply(withVolumes)
  await harness.untilReady(name, 10)
  await harness.untilAvailable(name, 1)
  const templates = [2, 3, 4].flatMap(version => [
    withImage('work', image(version)),
    withImage('router', image(version)),
  ])
  await burst(harness, seeded(seed), [...templates, ...harmless])
  // The last edit sets a new image in every clique.
  const { spec } = (await harness.set(name))!
  const last = image(9)
  const cliques = each(structuredClone(spec.template.cliques), clique => {
    clique.spec.podSpec.containers[0]!.image = last
  })
  await harness.patchSet(name, { spec: { template: { cliques } } })
  const upToDate = new Map<string, string>()
  let fewest = Number.POSITIVE_INFINITY
  await harness.until(
    'every pod to have the template of the last edit',
    async () => {
      const pods = await harness.pods(name)
      for (const pod of pods) if (imageOf(pod) === last) upToDate.set(pod.metadata.uid, pod.metadata.name)
      const routers = pods.filter(pod => pod.metadata.name.startsWith(`${name}-0-router-`))
      fewest = Math.min(fewest, routers.filter(isReady).length)
      return pods
    },
    pods => pods.length >= 7 && pods.every(pod => imageOf(pod) === last && isReady(pod)),
  )
  await untilUpdated(harness, name)
  await untilSeen(harness)
  const now = new Set(uids(await harness.pods(name)))
  const lost = [...upToDate].filter(([uid]) => !now.has(uid)).map(([, pod]) => pod)
  assert.deepEqual(lost, [], 'pods of the last edit that were replaced again')
  assert.ok(fewest >= 1, 'a router was ready the whole time')
  const { status } = (await harness.set(name))!
  assert.equal(status?.updatedReplicas, 1)
  assert.equal(status?.availableReplicas, 1)
  for (const clique of await harness.cliques(name))
    assert.equal(clique.status?.currentPodCliqueSetGenerationHash, status?.currentGenerationHash)
}

export const rapidEditScenarios: Scenario[] = [1, 2].flatMap(seed => [
  {
    name: `fifty concurrent edits of counts, order and notation restart no pod (seed ${seed})`,
    run: harness => onlyNotation(harness, seed),
  },
  {
    name: `fifty concurrent edits of templates end with the pods of the last one (seed ${seed})`,
    run: harness => manyTemplates(harness, seed),
  },
])
