// SPDX-License-Identifier: Apache-2.0

// Tests the patch of a stored PodClique: the stored template changes exactly when the revision changes, and then has
// the wanted revision. A failure prints the seed that repeats it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CliqueTemplate, type PodClique, type PodSpec, podTemplateHash } from '@grove/api'
import { applyMergePatch, equalJson } from '@grove/apimachinery'
import type { Stored } from '@grove/kube'
import fc from 'fast-check'
import { memberCliques, scalingGroups, standaloneCliques } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { podClique } from '../objects/clique.ts'
import { patchClique } from '../ownership/child-fields.ts'
import { hasWantedTemplate } from '../revision/foreign-hashes.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'

type Part = Pick<CliqueTemplate, 'labels' | 'annotations'> & { readonly podSpec: PodSpec }

/** One standalone clique and one member of a scaling group, both of the same template. */
function setOf({ podSpec, ...metadata }: Part): StoredSet {
  const shaped = (name: string) => ({
    ...metadata,
    ...clique(name),
    spec: { ...clique(name).spec, podSpec },
  })
  return sampleSet({ cliques: [shaped('web'), shaped('work')], groups: [group('g', ['work'])] })
}

function cliquesOf(set: StoredSet): PodClique[] {
  const members = scalingGroups(set, 0).flatMap(one => memberCliques(set, one, 0))
  return [...standaloneCliques(set, 0), ...members].map(instance =>
    podClique(set, instance, set, revisionOf(set).templateHashes[instance.template.name]!),
  )
}

const templateOf = ({ metadata: { labels, annotations }, spec: { podSpec } }: PodClique) => {
  const { 'grove.io/pod-template-hash': _, ...others } = labels ?? {}
  return [others, annotations ?? {}, podSpec]
}

function checkUpdate(before: Part, after: Part): { readonly differs: boolean; readonly stored: PodClique[] } {
  const [old, wanted] = [setOf(before), setOf(after)]
  const hashOf = (set: StoredSet) => podTemplateHash(set.spec.template, set.spec.template.cliques[0]!)
  const differs = hashOf(old) !== hashOf(wanted)
  const target = cliquesOf(wanted)
  const stored = cliquesOf(old).map((existing, at) => {
    const patch = patchClique(existing as Stored<PodClique>, target[at]!)
    const patched = applyMergePatch(existing, patch ?? {}) as PodClique
    assert.equal(
      !equalJson(templateOf(existing), templateOf(patched)),
      differs,
      'the stored template changes',
    )
    assert.ok(hasWantedTemplate(wanted, patched), 'the stored template has the wanted revision')
    assert.equal(
      patchClique(patched as Stored<PodClique>, target[at]!),
      undefined,
      'nothing is left to patch',
    )
    return patched
  })
  return { differs, stored }
}

const texts = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom('a', 'b', 'constructor', 'toString', '__proto__'),
      fc.constantFrom('', 'x', 'y'),
    ),
    { selector: ([key]) => key, maxLength: 3 },
  )
  .map(entries => Object.fromEntries(entries) as Record<string, string>)
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const selector = some(
  fc.constantFrom({}, { matchLabels: {} }, { matchLabels: { app: 'a' } }, { matchExpressions: [] }),
)
const defined = <T extends object>(object: T): T => JSON.parse(JSON.stringify(object)) as T
const term = fc.record({
  topologyKey: fc.constant('kubernetes.io/hostname'),
  labelSelector: selector,
  namespaceSelector: selector,
  namespaces: some(fc.constantFrom([], ['a'])),
})
const members = {
  nodeSelector: some(texts),
  restartPolicy: some(fc.constantFrom('Always', 'Never')),
  securityContext: some(fc.constantFrom({}, { runAsUser: 0 }, { runAsNonRoot: false })),
  affinity: some(
    fc.record({
      podAffinity: some(
        fc.record({ requiredDuringSchedulingIgnoredDuringExecution: some(fc.array(term, { maxLength: 2 })) }),
      ),
      nodeAffinity: some(fc.constantFrom({}, { preferredDuringSchedulingIgnoredDuringExecution: [] })),
    }),
  ),
  topologySpreadConstraints: some(
    fc.array(
      fc.record({
        maxSkew: fc.constant(1),
        topologyKey: fc.constantFrom('zone', 'rack'),
        whenUnsatisfiable: fc.constant('DoNotSchedule'),
        labelSelector: selector,
      }),
      { maxLength: 2 },
    ),
  ),
  volumes: some(
    fc.array(
      fc.constantFrom(
        { name: 'a', emptyDir: {} },
        { name: 'a' },
        { name: 'b', emptyDir: { sizeLimit: '1Gi' } },
        { name: 'b', emptyDir: { sizeLimit: '1024Mi' } },
        { name: 'c', ephemeral: {} },
      ),
      { maxLength: 2 },
    ),
  ),
  containers: fc.constantFrom(
    [{ name: 'main', image: 'm:1' }, { name: 'side' }],
    [{ name: 'side' }, { name: 'main', image: 'm:1', resources: {}, lifecycle: {} }],
    [
      { name: 'main', image: 'm:1', lifecycle: { preStop: {} } },
      { name: 'side', ports: [] },
    ],
    [{ name: 'main', image: 'm:2', resources: { limits: { cpu: '1' } } }],
    [{ name: 'main', image: 'm:2', resources: { limits: { cpu: '1000m' }, requests: {} } }],
  ),
}
const podSpec = fc.record(members)
const part = fc.record({ labels: texts, annotations: texts, podSpec })
/** Edits one member at a time, so that edits without a meaning are as likely as those with one. */
const edit: fc.Arbitrary<Partial<Omit<Part, 'podSpec'>> & { readonly podSpec?: object }> = fc.oneof(
  texts.map(labels => ({ labels })),
  texts.map(annotations => ({ annotations })),
  ...Object.entries(members).map(([name, member]) =>
    (member as fc.Arbitrary<unknown>).map(value => ({ podSpec: { [name]: value } })),
  ),
)

test('the stored template changes exactly when the revision changes, and then has the wanted revision', () => {
  const seen = { equal: 0, different: 0 }
  fc.assert(
    fc.property(part, edit, (before, changes) => {
      const after = { ...before, ...changes, podSpec: { ...before.podSpec, ...changes.podSpec } }
      const { differs } = checkUpdate(
        { ...before, podSpec: defined(before.podSpec) as unknown as PodSpec },
        { ...after, podSpec: defined(after.podSpec) as unknown as PodSpec },
      )
      seen[differs ? 'different' : 'equal']++
    }),
    { numRuns: 1000 },
  )
  assert.ok(seen.equal > 20 && seen.different > 20, JSON.stringify(seen))
})

describe('an empty selector differs from no selector', () => {
  const withTerm = (extra: object): Part => ({
    podSpec: {
      containers: [{ name: 'main' }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'kubernetes.io/hostname', ...extra },
          ],
        },
      },
    },
  })
  for (const field of ['namespaceSelector', 'labelSelector'])
    test(`${field}: {} is written to the stored clique and removed from it`, () => {
      const [without, withEmpty] = [withTerm({}), withTerm({ [field]: {} })]
      const added = checkUpdate(without, withEmpty)
      assert.ok(added.differs)
      assert.deepEqual(added.stored[0]!.spec.podSpec, withEmpty.podSpec)
      const removed = checkUpdate(withEmpty, without)
      assert.deepEqual(removed.stored[0]!.spec.podSpec, without.podSpec)
    })

  test('an empty member of a map is written if its presence has a meaning', () => {
    const before: Part = {
      podSpec: { containers: [{ name: 'main', livenessProbe: { tcpSocket: { port: 1 } } }] },
    }
    const after: Part = { podSpec: { containers: [{ name: 'main', livenessProbe: {} }] } }
    assert.deepEqual(checkUpdate(before, after).stored[0]!.spec.podSpec, after.podSpec)
    assert.deepEqual(checkUpdate(after, before).stored[0]!.spec.podSpec, before.podSpec)
  })
})

test('a different notation of the same template causes no write', () => {
  const before: Part = {
    podSpec: { containers: [{ name: 'main', resources: { limits: { cpu: '1000m' } } }] },
  }
  const after: Part = {
    podSpec: {
      restartPolicy: 'Always',
      nodeSelector: {},
      containers: [{ name: 'main', resources: { limits: { cpu: '1' } } }],
    },
  }
  assert.equal(checkUpdate(before, after).differs, false)
})

for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
  test(`a label and an annotation named ${name} are written and removed`, () => {
    const none: Part = { podSpec: { containers: [{ name: 'main' }] } }
    const named = { [name]: 'x' } as Record<string, string>
    const labelled: Part = { ...none, labels: named, annotations: named }
    const [added] = checkUpdate(none, labelled).stored
    for (const texts of [added!.metadata.labels!, added!.metadata.annotations!])
      assert.equal(Object.getOwnPropertyDescriptor(texts, name)?.value, 'x')
    const [removed] = checkUpdate(labelled, none).stored
    assert.equal(Object.hasOwn(removed!.metadata.labels!, name), false)
  })
