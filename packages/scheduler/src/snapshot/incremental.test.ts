// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import fc from 'fast-check'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { instances, propertyOptions } from '../testing/instances.ts'
import { gpu, node, pod } from '../testing/objects.ts'
import type { Snapshot, SnapshotObjects } from '../types.ts'

const policy = { ...defaultPolicy, fixes: false }

type Change =
  | { readonly kind: 'bind' | 'delete' | 'terminate'; readonly at: number; readonly to: number }
  | { readonly kind: 'cordon' | 'add'; readonly at: number; readonly to: number }

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('bind', 'delete', 'terminate', 'cordon', 'add'),
  at: fc.nat({ max: 99 }),
  to: fc.nat({ max: 99 }),
})

/** Replaces the object that changes and keeps all others, as a watch cache does. */
function changed(objects: SnapshotObjects, { kind, at, to }: Change, step: number): SnapshotObjects {
  const { nodes, pods } = objects
  const name = nodes[to % nodes.length]!.metadata.name
  if (kind === 'add') {
    const port = { containers: [{ name: 'm', ports: [{ containerPort: 1, hostPort: 7000 + (at % 3) }] }] }
    const added = pod(`added-${step}`, { [gpu]: '1' }, { node: name, ...(at % 2 ? { spec: port } : {}) })
    return { ...objects, pods: [...pods, added as Pod] }
  }
  if (kind === 'cordon') {
    const old = nodes[at % nodes.length]!
    const next = { ...old, spec: { ...old.spec, unschedulable: !old.spec?.unschedulable } }
    return { ...objects, nodes: nodes.with(at % nodes.length, next) }
  }
  if (pods.length === 0) return objects
  const position = at % pods.length
  const old = pods[position]!
  if (kind === 'delete') return { ...objects, pods: pods.toSpliced(position, 1) }
  const next =
    kind === 'bind'
      ? { ...old, spec: { ...old.spec, nodeName: name } }
      : { ...old, metadata: { ...old.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  return { ...objects, pods: pods.with(position, next) }
}

test('a snapshot that is derived from the last one is equal to a new one, and so is its plan', () => {
  let derived = 0
  fc.assert(
    fc.property(instances, fc.array(change, { minLength: 1, maxLength: 6 }), (first, changes) => {
      // Enough bound pods that one change counts as small.
      const filler = Array.from({ length: 12 }, (_, i) =>
        pod(`filler-${i}`, { cpu: '10m' }, { node: first.nodes[i % first.nodes.length]!.metadata.name }),
      )
      let objects: SnapshotObjects = { ...first, pods: [...first.pods, ...filler] }
      let previous: Snapshot = snapshotFrom(objects)
      plan(previous, policy, 0)
      for (const [step, one] of changes.entries()) {
        objects = changed(objects, one, step)
        const next = snapshotFrom(objects, { previous })
        const fresh = snapshotFrom(structuredClone(objects))
        deepEqual(next, fresh)
        deepEqual(plan(next, policy, 0), plan(fresh, policy, 0))
        if (next.nodes === previous.nodes && next.boundPods !== previous.boundPods) derived++
        previous = next
      }
    }),
    propertyOptions(200),
  )
  ok(derived > 100, `${derived} lists were derived`)
})

test('unchanged lists are the same objects, so that nothing is computed for them again', () => {
  const objects: SnapshotObjects = {
    nodes: [node('a', { [gpu]: '8' }), node('b', { [gpu]: '8' })],
    pods: ['a', 'b'].map(name => pod(`p-${name}`, { [gpu]: '1' }, { node: name })),
    podGangs: [],
  }
  const first = snapshotFrom(objects)
  const same = snapshotFrom({ ...objects }, { previous: first })
  equal(same.nodes, first.nodes)
  equal(same.boundPods, first.boundPods)
  const other = snapshotFrom({ ...objects, pods: objects.pods.slice(1) }, { previous: first })
  notEqual(other.boundPods, first.boundPods)
})
