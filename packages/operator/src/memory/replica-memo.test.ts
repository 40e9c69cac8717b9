// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '@grove/kube'
import fc from 'fast-check'
import { resources } from '../caches/resources.ts'
import { replicaCount, scalingGroups, standaloneCliques } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { hasOutdatedPods } from '../update/outdated-pods.ts'
import { type ReplicaState, replicaState } from '../update/replica-state.ts'
import { Memory } from './memory.ts'

const shape = sampleSet({
  replicas: 4,
  cliques: [clique('web'), clique('work')],
  groups: [group('g', ['work'])],
})

interface Facts extends ReplicaState {
  readonly gangPhase: string | undefined
}

class Fixture {
  readonly api = new SimulatedApi(new FakeClock())
  computed = 0
  readonly memo = new Memory(this.api.caches, new FakeClock()).replicas<Facts>((set, replica, children) => {
    this.computed++
    const revision = revisionOf(set)
    const state = replicaState(set, replica, revision, {
      ...children,
      hasOutdatedPods: clique => hasOutdatedPods(revision, clique, children.podsOf(clique)),
    })
    return { ...state, gangPhase: children.gangNamed(`w-${replica}`)?.status?.phase }
  })

  constructor() {
    this.api.put(resources.podCliqueSets, shape)
    for (let replica = 0; replica < 4; replica++) this.create(replica)
  }

  get set(): StoredSet {
    return this.api.get(resources.podCliqueSets, 'w') as StoredSet
  }

  create(replica: number): void {
    const controlled = (uid: string, name: string) => ({
      name,
      namespace: 'serving',
      ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid, controller: true }],
    })
    const { uid } = this.set.metadata
    const spec = { roleName: 'r', replicas: 1, podSpec: { containers: [] } }
    const kind = { apiVersion: 'grove.io/v1alpha1', kind: 'PodClique' } as const
    for (const { name } of standaloneCliques(this.set, replica))
      this.api.put(resources.podCliques, { ...kind, metadata: controlled(uid, name), spec })
    this.api.put(resources.podGangs, {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: controlled(uid, `w-${replica}`),
      spec: { podgroups: [] },
    })
    for (const { name } of scalingGroups(this.set, replica)) {
      const { metadata } = this.api.put(resources.podCliqueScalingGroups, {
        ...kind,
        kind: 'PodCliqueScalingGroup',
        metadata: controlled(uid, name),
        spec: { replicas: 1, minAvailable: 1, cliqueNames: ['work'] },
      })
      const member = controlled(metadata.uid, `${name}-0-work`)
      this.api.put(resources.podCliques, { ...kind, metadata: member, spec })
    }
  }

  /** The states from the memo, and the states computed without it. */
  states() {
    const plain = ({ update, lacks, ...state }: Facts) => {
      const { isOutdated, ...rest } = update()
      return { ...state, ...rest, lacks: lacks(), isOutdated: isOutdated() }
    }
    const { set } = this
    const count = replicaCount(set)
    return {
      remembered: this.memo.all(set, count).map(plain),
      fresh: Array.from({ length: count }, (_, replica) => plain(this.memo.once(set, replica))),
    }
  }

  /** The number of replicas that a read of all replicas computes. */
  look(): number {
    const before = this.computed
    for (const state of this.memo.all(this.set, replicaCount(this.set))) state.update()
    return this.computed - before
  }
}

const ready = {
  status: { readyReplicas: 1, updatedReplicas: 1, scheduledReplicas: 1, scheduleGatedReplicas: 0 },
}

describe('a read of all replicas', () => {
  const table: [what: string, change: (fixture: Fixture) => void, computed: number][] = [
    ['nothing changed', () => undefined, 0],
    ['a clique', ({ api }) => api.modify(resources.podCliques, 'w-1-web', ready), 1],
    [
      'a scaling group',
      ({ api }) =>
        api.modify(resources.podCliqueScalingGroups, 'w-2-g', { status: { availableReplicas: 1 } }),
      1,
    ],
    ['a gang', ({ api }) => api.modify(resources.podGangs, 'w-2', { status: { phase: 'Running' } }), 1],
    [
      'a clique that was deleted',
      ({ api }) => api.remove(resources.podCliques as never, api.get(resources.podCliques, 'w-3-web')!),
      1,
    ],
    [
      'the status of the set',
      ({ api }) => api.modify(resources.podCliqueSets, 'w', { status: { availableReplicas: 3 } }),
      0,
    ],
    [
      'the template of the set',
      ({ api, set }) => {
        const template = structuredClone(set.spec.template)
        template.cliques[0]!.spec.podSpec.containers[0]!.image = 'registry.example/next:2'
        api.modify(resources.podCliqueSets, 'w', { spec: { template } })
      },
      4,
    ],
  ]
  for (const [what, change, computed] of table)
    test(`computes ${computed} of 4 replicas after a change: ${what}`, () => {
      const fixture = new Fixture()
      assert.equal(fixture.look(), 4)
      change(fixture)
      assert.equal(fixture.look(), computed)
      assert.equal(fixture.look(), 0)
    })

  test('computes a replica again when a member of its scaling group changes, after the update has read it', () => {
    const fixture = new Fixture()
    // A group that has not observed the generation is not up to date, whatever the state of its members.
    fixture.api.modify(resources.podCliqueScalingGroups, 'w-0-g', {
      status: { currentPodCliqueSetGenerationHash: revisionOf(fixture.set).generationHash },
    })
    fixture.look()
    fixture.api.modify(resources.podCliques, 'w-0-g-0-work', ready)
    assert.equal(fixture.look(), 1)
  })
})

test('drops the entries of a deleted set', () => {
  const fixture = new Fixture()
  fixture.look()
  assert.ok(fixture.memo.size > 0)
  fixture.api.remove(resources.podCliqueSets as never, fixture.set as never)
  assert.equal(fixture.memo.size, 0)
})

test('after any changes the memo returns the same states as a computation without it', () => {
  const names = ['w-0-web', 'w-1-web', 'w-2-g-0-work', 'w-3-g-0-work']
  const change = fc.oneof(
    fc.record({ kind: fc.constant('ready' as const), name: fc.constantFrom(...names), count: fc.nat(1) }),
    fc.record({ kind: fc.constant('remove' as const), name: fc.constantFrom(...names), count: fc.nat(1) }),
    fc.record({ kind: fc.constant('create' as const), name: fc.constant(''), count: fc.nat(3) }),
    fc.record({
      kind: fc.constant('group' as const),
      name: fc.constantFrom('w-0-g', 'w-2-g'),
      count: fc.nat(1),
    }),
    fc.record({
      kind: fc.constant('gang' as const),
      name: fc.constantFrom('w-1', 'w-3'),
      count: fc.nat(1),
    }),
    fc.record({ kind: fc.constant('image' as const), name: fc.constant(''), count: fc.nat(9) }),
    fc.record({ kind: fc.constant('scale' as const), name: fc.constant(''), count: fc.nat(4) }),
  )
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), changes => {
      const fixture = new Fixture()
      const { api } = fixture
      for (const { kind, name, count } of changes) {
        const template = structuredClone(fixture.set.spec.template)
        template.cliques[0]!.spec.podSpec.containers[0]!.image = `registry.example/main:${count}`
        const status = { ...ready.status, readyReplicas: count }
        const held = api.get(resources.podCliques, name)
        if (kind === 'ready') api.modify(resources.podCliques, name, { status })
        else if (kind === 'group')
          api.modify(resources.podCliqueScalingGroups, name, { status: { availableReplicas: count } })
        else if (kind === 'gang')
          api.modify(resources.podGangs, name, { status: { phase: count ? 'Running' : 'Pending' } })
        else if (kind === 'image') api.modify(resources.podCliqueSets, 'w', { spec: { template } })
        else if (kind === 'scale') api.modify(resources.podCliqueSets, 'w', { spec: { replicas: count } })
        else if (kind === 'create') fixture.create(count)
        else if (held) api.remove(resources.podCliques as never, held as never)
        const { remembered, fresh } = fixture.states()
        assert.deepEqual(remembered, fresh)
      }
    }),
    { seed: 20_303, numRuns: 150 },
  )
})
