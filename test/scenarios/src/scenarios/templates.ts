// SPDX-License-Identifier: Apache-2.0

// A template change that changes the revision updates PodCliques and pods. Other changes do not.
import assert from 'node:assert/strict'
import {
  type CliqueTemplate,
  label,
  type Pod,
  type PodClique,
  type PodSpec,
  podTemplateHash,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { seeded } from '../seeded.ts'
import { grouped, solo } from './manifests.ts'
import { editCliques, untilUpdated } from './updates.ts'

const onDelete = (manifest: string) =>
  manifest.replace('replicas: 1', 'replicas: 1\n  updateStrategy: {type: OnDelete}')

type LabelSelector = NonNullable<NonNullable<PodSpec['topologySpreadConstraints']>[number]['labelSelector']>

/** A preferred rule, so that every pod can be scheduled. */
function spreading(selectors: object): PodSpec['affinity'] {
  const podAffinityTerm = { topologyKey: 'kubernetes.io/hostname', ...selectors }
  return {
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm }] },
  }
}

const withAffinity = (affinity: PodSpec['affinity']) => (cliques: CliqueTemplate[]) => {
  for (const { spec } of cliques) spec.podSpec.affinity = affinity
  return cliques
}

const termOf = ({ affinity }: PodSpec) =>
  affinity?.podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution?.[0]?.podAffinityTerm

function selectorScenario(field: 'namespaceSelector' | 'labelSelector'): Scenario {
  const has = (podSpec: PodSpec | undefined, wanted: boolean) => {
    const value = podSpec && termOf(podSpec)?.[field]
    return wanted ? JSON.stringify(value) === '{}' : value === undefined
  }
  return {
    name: `an empty ${field} that is added or removed reaches every pod`,
    async run(harness) {
      // The other selector is always present: the term stays valid without this one.
      const others = field === 'labelSelector' ? {} : { labelSelector: { matchLabels: { app: 'a' } } }
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
      await editCliques(harness, 'solo', withAffinity(spreading(others)))
      await untilUpdated(harness, 'solo')
      for (const wanted of [true, false]) {
        const selectors = wanted ? { ...others, [field]: {} } : others
        await editCliques(harness, 'solo', withAffinity(spreading(selectors)))
        await untilUpdated(harness, 'solo')
        const pods = await harness.untilReady('solo', 2)
        for (const pod of pods) assert.ok(has(pod.spec, wanted), JSON.stringify(pod.spec?.affinity))
        for (const { spec } of await harness.cliques('solo')) assert.ok(has(spec.podSpec, wanted))
      }
    },
  }
}

export const templateScenarios: Scenario[] = [
  selectorScenario('namespaceSelector'),
  selectorScenario('labelSelector'),
  {
    name: 'with OnDelete, an empty selector changes members of a scaling group in place, and their next pods',
    async run(harness) {
      await harness.apply(onDelete(grouped))
      await harness.untilReady('grouped', 10)
      await editCliques(harness, 'grouped', withAffinity(spreading({})))
      await untilTemplates(harness, 'grouped')
      await editCliques(
        harness,
        'grouped',
        withAffinity(spreading({ namespaceSelector: {}, labelSelector: {} })),
      )
      await untilTemplates(harness, 'grouped')
      const isMember = ({ metadata }: Pod | PodClique) =>
        metadata.labels?.[label.podClique] === 'grouped-0-eng-0-work'
      const old = (await harness.pods('grouped')).find(isMember)!
      await harness.deletePod(old.metadata.name)
      const pods = await harness.until(
        'the pod to be replaced',
        () => harness.pods('grouped'),
        all =>
          all.length === 10 &&
          all.every(isReady) &&
          all.every(({ metadata }) => metadata.uid !== old.metadata.uid),
      )
      const replaced = pods.filter(pod => pod.spec?.affinity)
      assert.deepEqual(
        replaced.map(pod => [isMember(pod), termOf(pod.spec!)]),
        [[true, { topologyKey: 'kubernetes.io/hostname', namespaceSelector: {}, labelSelector: {} }]],
      )
    },
  },
  {
    name: 'after any edit, stored PodCliques have the template of their hash, and change only with it',
    async run(harness) {
      const seed = Number(process.env.SEED ?? 1)
      const random = seeded(seed)
      await harness.apply(onDelete(grouped))
      await harness.untilReady('grouped', 10)
      let before = await untilTemplates(harness, 'grouped')
      let [kept, changed] = [0, 0]
      for (let round = 0; round < 24; round++) {
        await editCliques(harness, 'grouped', cliques => {
          for (const { spec } of cliques) editAtRandom(spec.podSpec, random)
          return cliques
        })
        const after = await untilTemplates(harness, 'grouped')
        for (const [at, { metadata, spec }] of after.entries()) {
          const same =
            metadata.labels?.[label.podTemplateHash] === before[at]!.metadata.labels?.[label.podTemplateHash]
          const [was, is] = [before[at]!.spec.podSpec, spec.podSpec].map(one => JSON.stringify(one))
          if (same) assert.equal(is, was, `${metadata.name} in round ${round}, SEED=${seed}`)
          else assert.notEqual(is, was, `${metadata.name} in round ${round}, SEED=${seed}`)
          if (same) kept++
          else changed++
        }
        before = after
      }
      assert.ok(kept > 0 && changed > 0, `${kept} PodCliques kept their revision, ${changed} did not`)
    },
  },
]

const selectors: readonly (LabelSelector | undefined)[] = [
  undefined,
  {},
  { matchLabels: {} },
  { matchLabels: { app: 'a' } },
]
/** Equivalent notations, and some that are not equivalent. */
const edits: readonly ((podSpec: PodSpec, random: (below: number) => number) => void)[] = [
  (podSpec, random) => {
    const [labelSelector, namespaceSelector] = [selectors[random(4)], selectors[random(4)]]
    podSpec.affinity = spreading({
      ...(labelSelector && { labelSelector }),
      ...(namespaceSelector && { namespaceSelector }),
    })
  },
  podSpec => {
    delete podSpec.affinity
  },
  (podSpec, random) => {
    podSpec.affinity = random(2) ? {} : { podAffinity: {} }
  },
  (podSpec, random) => {
    const labelSelector = selectors[random(4)]
    podSpec.topologySpreadConstraints = [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        ...(labelSelector && { labelSelector }),
      },
    ]
  },
  (podSpec, random) => {
    podSpec.nodeSelector = [{}, { constructor: 'x' }, { toString: 'y' }][random(3)] as Record<string, string>
  },
  (podSpec, random) => {
    podSpec.securityContext = [{}, { runAsUser: 0 }, { sysctls: [] }][random(3)]!
  },
  (podSpec, random) => {
    podSpec.containers[0]!.resources = [
      {},
      { limits: { cpu: '1' } },
      { limits: { cpu: '1000m' }, requests: {} },
    ][random(3)]!
  },
]

function editAtRandom(podSpec: PodSpec, random: (below: number) => number): void {
  edits[random(edits.length)]!(podSpec, random)
}

/** Waits until the operator has observed the spec. Then every PodClique has the template of its hash. */
async function untilTemplates(harness: Harness, name: string): Promise<Stored<PodClique>[]> {
  const set = await harness.set(name)
  const { template } = set!.spec
  const hashOf = (role: string) => podTemplateHash(template, template.cliques.find(one => one.name === role)!)
  const cliques = await harness.until(
    'every PodClique to carry the hash of its template',
    async () => ({ seen: await harness.set(name), cliques: await harness.cliques(name) }),
    ({ seen, cliques }) =>
      seen?.status?.observedGeneration === set!.metadata.generation &&
      cliques.every(
        ({ metadata, spec }) => metadata.labels?.[label.podTemplateHash] === hashOf(spec.roleName),
      ),
  )
  for (const { metadata, spec } of cliques.cliques)
    assert.equal(
      podTemplateHash({}, { spec: { podSpec: ofTemplate(spec.podSpec) } }),
      hashOf(spec.roleName),
      metadata.name,
    )
  return cliques.cliques.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** Removes the variables that the operator adds to members of scaling groups. */
function ofTemplate(podSpec: PodSpec): PodSpec {
  return {
    ...podSpec,
    containers: podSpec.containers.map(({ env: _, ...container }) => container),
  }
}
