// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { instances, propertyOptions } from '../testing/instances.ts'
import {
  type Assigned,
  bestScore,
  fitsTogether,
  keepsScopes,
  mayRun,
  oracleScore,
} from '../testing/oracle.ts'
import type { Decision, Gang, Snapshot } from '../types.ts'

const policy = { ...defaultPolicy, fixes: false }

function assignedTo(snapshot: Snapshot, decision: Decision, part?: 'minimum'): Assigned {
  const pods = snapshot.gangs.flatMap(gang => gang.groups.flatMap(({ candidates }) => candidates))
  return decision.bindings
    .filter(binding => !part || binding.part === part)
    .map(binding => ({
      pod: pods.find(pod => pod.namespace === binding.namespace && pod.name === binding.pod)!,
      node: binding.node,
    }))
}

function ofGang(assigned: Assigned, gang: Gang): Assigned {
  return assigned.filter(({ pod }) => pod.gang === gang.name)
}

function preferredKeys(gang: Gang): Set<string> {
  const keys = [gang, ...gang.configs, ...gang.groups].map(({ constraint }) => constraint.preferred)
  return new Set(keys.filter(key => key !== undefined))
}

test('verdicts, placements and scores agree with a complete search', () => {
  const tally = { scheduled: 0, unschedulable: 0, blocked: 0, unproved: 0 }
  fc.assert(
    fc.property(instances, objects => {
      const snapshot = snapshotFrom(objects)
      const decision = plan(snapshot, policy, 0)
      const accepted: Gang[] = []
      const minima = assignedTo(snapshot, decision, 'minimum')
      for (const [index, gang] of snapshot.gangs.entries()) {
        const { verdict, provenance } = decision.gangs[index]!
        if (provenance !== 'proved') {
          // Only two preferred keys whose domains cross may leave the choice unproved. The verdict is always proved.
          equal(verdict, 'Scheduled')
          ok(preferredKeys(gang).size > 1)
          tally.unproved++
        }
        if (gang.groups.every(group => group.placed.length >= group.minReplicas)) {
          equal(verdict, 'Scheduled')
          continue
        }
        const expected = fitsTogether(snapshot, [...accepted, gang])
        equal(verdict, expected ? 'Scheduled' : 'Unschedulable', `verdict of ${gang.name}`)
        if (expected) tally.scheduled++
        else tally.unschedulable++
        if (expected) accepted.push(gang)
      }
      accepted.forEach((gang, position) => {
        const { placementScore, provenance } = decision.gangs[snapshot.gangs.indexOf(gang)]!
        const before = accepted.slice(0, position).flatMap(earlier => ofGang(minima, earlier))
        const own = ofGang(minima, gang)
        equal(
          own.length,
          gang.groups.reduce((sum, group) => sum + Math.max(0, group.minReplicas - group.placed.length), 0),
        )
        near(placementScore!, oracleScore(snapshot, gang, own), `score of ${gang.name}`)
        if (provenance === 'proved')
          near(
            placementScore!,
            bestScore(snapshot, accepted.slice(position), before),
            `best score of ${gang.name}`,
          )
      })
      checkValid(snapshot, assignedTo(snapshot, decision))
    }),
    propertyOptions(3000),
  )
  ok(
    tally.scheduled > 100 && tally.unschedulable > 100 && tally.unproved < tally.scheduled / 20,
    JSON.stringify(tally),
  )
})

test('with a small budget every proved verdict is still correct and every placement valid', () => {
  const tally = { proved: 0, exhausted: 0 }
  fc.assert(
    fc.property(instances, fc.integer({ min: 0, max: 60 }), (objects, gang) => {
      const snapshot = snapshotFrom(objects)
      const decision = plan(snapshot, { ...policy, budget: { gang, cycle: gang * 2 } }, 0)
      const accepted: Gang[] = []
      for (const [index, gang] of snapshot.gangs.entries()) {
        const { verdict, provenance } = decision.gangs[index]!
        if (gang.groups.every(group => group.placed.length >= group.minReplicas)) continue
        if (verdict === 'Scheduled') accepted.push(gang)
        else if (provenance === 'proved') {
          ok(!fitsTogether(snapshot, [...accepted, gang]), `${gang.name} fits`)
          tally.proved++
        } else tally.exhausted++
      }
      checkValid(snapshot, assignedTo(snapshot, decision))
    }),
    propertyOptions(2000),
  )
  ok(tally.proved > 50 && tally.exhausted > 50, JSON.stringify(tally))
})

function near(actual: number, expected: number, what: string): void {
  ok(Math.abs(actual - expected) < 1e-9, `${what}: ${actual}, expected ${expected}`)
}

/** No binding overcommits a node or breaks a required rule, for minimum and surplus alike. */
function checkValid(snapshot: Snapshot, assigned: Assigned): void {
  for (const node of snapshot.nodes) {
    const added = assigned.filter(entry => entry.node === node.name).map(({ pod }) => pod)
    if (added.length === 0) continue
    const onNode = [...snapshot.boundPods.filter(pod => pod.node === node.name), ...added]
    const requested = new Set(added.flatMap(({ needs }) => Object.keys(needs.requests)))
    for (const name of requested) {
      const sum = onNode.reduce((total, { needs }) => total + (needs.requests[name] ?? 0), 0)
      ok(sum <= (node.allocatable[name] ?? 0), `${name} of ${node.name} is overcommitted`)
    }
    for (const pod of added) ok(mayRun(snapshot, pod, node), `${pod.name} may not run on ${node.name}`)
    for (const pod of added)
      deepEqual(
        onNode.filter(
          other =>
            other !== pod &&
            other.needs.hostPorts.some(p => pod.needs.hostPorts.some(q => p.port === q.port)),
        ),
        [],
      )
  }
  for (const gang of snapshot.gangs)
    ok(keepsScopes(snapshot, gang, ofGang(assigned, gang)), `scopes of ${gang.name}`)
}
