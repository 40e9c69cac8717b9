// SPDX-License-Identifier: Apache-2.0

// Tests after which changes the children and the gangs of a set are compared again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label } from '@grove/api'
import type { Change, KubeObject, Stored } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { SyncState } from '../memory/memory.ts'
import { SetTable } from '../memory/set-table.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { SetsInSync } from './in-sync.ts'

const set = sampleSet({ cliques: [clique('web')] })

type Edited = KubeObject & { readonly spec?: object; readonly status?: object }

const part = (more: Partial<Stored['metadata']> = {}, rest: object = {}): Stored<Edited> => ({
  metadata: {
    name: 'part',
    namespace: 'serving',
    uid: 'u',
    resourceVersion: '1',
    labels: { [label.partOf]: 'w' },
    ...more,
  },
  spec: { a: 1 },
  status: { a: 1 },
  ...rest,
})

const update = (before: Stored<Edited>, after: Stored<Edited>): Change<KubeObject> => ({
  type: 'update',
  old: before,
  new: after,
  source: 'watch',
})
const removal = (old: Stored<Edited>): Change<KubeObject> => ({
  type: 'delete',
  old,
  new: undefined,
  source: 'watch',
})

const counted = { generation: 1 }
const other = { labels: { [label.partOf]: 'other' } }
const unlabelled = { labels: {} }
const ownStatus = part({ ...counted, name: 'w', uid: set.metadata.uid }, { status: { a: 2 } })

/** The objects that the next reconcile compares again: none, the children, or the gangs as well. */
type Due = 'nothing' | 'children' | 'gangs'

const table: [what: string, resource: string, change: Change<KubeObject>, dueOf: Due][] = [
  ['the status of a clique', 'podcliques', update(part(counted), part(counted, { status: {} })), 'nothing'],
  ['the spec of a clique', 'podcliques', update(part(counted), part({ generation: 2 })), 'children'],
  [
    'the labels of a clique',
    'podcliques',
    update(part(counted), part({ ...counted, labels: { [label.partOf]: 'w', x: 'y' } })),
    'children',
  ],
  [
    'the label that names the set',
    'podcliques',
    update(part(counted), part({ ...counted, ...unlabelled })),
    'children',
  ],
  ['the deletion of a clique', 'podcliques', removal(part()), 'children'],
  [
    'the status of a kind without generations',
    'horizontalpodautoscalers',
    update(part(), part({}, { status: {} })),
    'nothing',
  ],
  [
    'the spec of a kind without generations',
    'horizontalpodautoscalers',
    update(part(), part({}, { spec: {} })),
    'children',
  ],
  ['a gang that lists new pods', 'podgangs', update(part(counted), part({ generation: 2 })), 'nothing'],
  ['the deletion of a gang', 'podgangs', removal(part()), 'children'],
  [
    'a child of another set',
    'podcliques',
    update(part({ ...counted, ...other }), part({ generation: 2, ...other })),
    'nothing',
  ],
  [
    'the status of the set',
    'podcliquesets',
    update(part({ ...counted, name: 'w', uid: set.metadata.uid }), ownStatus),
    'nothing',
  ],
  [
    'the spec of the set',
    'podcliquesets',
    update(
      part({ ...counted, name: 'w', uid: set.metadata.uid }),
      part({ generation: 2, name: 'w', uid: set.metadata.uid }),
    ),
    'gangs',
  ],
  [
    'an object without an owner',
    'clustertopologybindings',
    update(part({ ...counted, namespace: undefined }), part({ generation: 2, namespace: undefined })),
    'gangs',
  ],
]

function begun() {
  let handler: (change: Change<KubeObject>, resource: string) => void = () => undefined
  const known = new Set(['w'])
  const caches = {
    sets: {
      get: ({ name }: { name: string }) => (known.has(name) ? set : undefined),
    },
    onChangeOfAny: (given: typeof handler) => {
      handler = given
    },
  } as unknown as Caches
  const syncs = new SetTable<SyncState>(() => known.has('w'))
  const inSync = new SetsInSync(caches, syncs)
  const fingerprint = inSync.fingerprintOf(set, inSync.changesOf(set))
  assert.ok(
    !inSync.isInSync(set, fingerprint) && inSync.areGangsDue(set, fingerprint),
    'no sync is recorded at first',
  )
  inSync.recordSync(set, fingerprint)
  inSync.recordGangs(set, fingerprint)
  const dueOf = (of: StoredSet): Due => {
    const now = inSync.fingerprintOf(of, inSync.changesOf(of))
    if (inSync.areGangsDue(of, now)) return 'gangs'
    return inSync.isInSync(of, now) ? 'nothing' : 'children'
  }
  return {
    syncs,
    dueOf,
    handle: (change: Change<KubeObject>, resource: string) => handler(change, resource),
    removeSet: () => {
      known.delete('w')
      syncs.dropSet(set.metadata.uid)
    },
  }
}

for (const [what, resource, change, wanted] of table)
  test(`${what}: ${wanted}`, () => {
    const { dueOf, handle } = begun()
    assert.equal(dueOf(set), 'nothing')
    handle(change, resource)
    assert.equal(dueOf(set), wanted)
  })

test('the fingerprint contains the replicas that an update has reached', () => {
  const { dueOf } = begun()
  const updating = (...replicas: number[]): StoredSet => ({
    ...set,
    status: {
      availableReplicas: 0,
      updatedReplicas: 0,
      updateProgress: { currentlyUpdating: replicas.map(replicaIndex => ({ replicaIndex })) },
    },
  })
  assert.equal(dueOf(updating()), 'children')
  assert.equal(dueOf(updating(1)), 'children')
})

test('the tables keep no deleted set, although its children are deleted after it', () => {
  const { syncs, handle, removeSet } = begun()
  handle(removal(part(counted)), 'podcliques')
  assert.equal(syncs.size, 1)
  removeSet()
  for (let child = 0; child < 20; child++)
    handle(removal(part({ ...counted, name: `c${child}` })), 'podcliques')
  assert.equal(syncs.size, 0)
})
