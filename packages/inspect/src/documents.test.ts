// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { apiVersion, label, schedulerApiVersion } from '@grove/api'
import { statusDocument, treeDocument } from './documents.ts'
import type { SetObjects } from './set-model.ts'

const page = readFileSync(new URL('../../../docs/cli-json.md', import.meta.url), 'utf8')
const time = '2030-01-01T00:00:00Z'
const condition = (type: string, status: 'True' | 'False') => ({
  type,
  status,
  reason: 'Reason',
  message: 'message',
  lastTransitionTime: time,
})
const updating = { updateStartedAt: time }

/** A set with every field that the documents can have. */
const objects: SetObjects = {
  set: {
    apiVersion,
    kind: 'PodCliqueSet',
    metadata: { name: 'llm', namespace: 'team', creationTimestamp: time, deletionTimestamp: time },
    spec: { replicas: 500, template: { cliques: [] } },
    status: {
      currentGenerationHash: 'h',
      updateProgress: updating,
      updatedReplicas: 0,
      availableReplicas: 0,
      conditions: [condition('Available', 'False'), condition('Stalled', 'True')],
    },
  },
  groups: [
    {
      apiVersion,
      kind: 'PodCliqueScalingGroup',
      metadata: { name: 'llm-0-g', labels: { [label.setReplicaIndex]: '0' } },
      spec: { replicas: 1, minAvailable: 2, cliqueNames: [] },
    },
  ],
  cliques: [
    {
      apiVersion,
      kind: 'PodClique',
      metadata: { name: 'llm-0-w', labels: { [label.setReplicaIndex]: '0' } },
      spec: { roleName: 'w', podSpec: { containers: [] }, replicas: 1, minAvailable: 1 },
      status: {
        readyReplicas: 0,
        updatedReplicas: 0,
        scheduledReplicas: 0,
        scheduleGatedReplicas: 0,
        conditions: [condition('MinAvailableBreached', 'True')],
      },
    },
  ],
  gangs: [
    {
      apiVersion: schedulerApiVersion,
      kind: 'PodGang',
      metadata: { name: 'llm-0' },
      spec: { podgroups: [] },
      status: { phase: 'Pending', conditions: [condition('Scheduled', 'False')] },
    },
  ],
  pods: [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', labels: { [label.podClique]: 'llm-0-w', [label.podGang]: 'llm-0' } },
      spec: { containers: [] },
    },
  ],
}

/** The names of all fields, without the content of fields that are copied from objects of the cluster. */
function fieldsOf(value: unknown, fields = new Set<string>()): Set<string> {
  const copied = ['updateProgress', 'available', 'stalled', 'conditions']
  if (Array.isArray(value)) for (const item of value) fieldsOf(item, fields)
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      fields.add(key)
      if (!copied.includes(key)) fieldsOf(item, fields)
    }
  return fields
}

const documented = new Set([...page.matchAll(/`(\w+)`/g)].map(([, name]) => name))

for (const [kind, document] of [
  ['Status', statusDocument(objects)],
  ['Tree', treeDocument(objects)],
] as const)
  test(`docs/cli-json.md describes every field of a ${kind}`, () => {
    const fields = [...fieldsOf(JSON.parse(JSON.stringify(document)))]
    const obvious = ['apiVersion', 'name', 'namespace']
    assert.deepEqual(
      fields.filter(field => !documented.has(field) && !obvious.includes(field)),
      [],
    )
    assert.equal(document.apiVersion, 'cli.grove.io/v1alpha1')
    assert.equal(document.kind, kind)
  })

test('docs/cli-json.md describes no field that does not exist', () => {
  const fields = fieldsOf([statusDocument(objects), treeDocument(objects)])
  const rows = [...page.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  )
  assert.ok(rows.length > 20)
  assert.deepEqual(
    rows.filter(field => !fields.has(field)),
    [],
  )
})

test('pods are counted by their reason, the stall is the first cause, and the gang is that of the pods', () => {
  const { pods, causes, converged } = statusDocument(objects)
  assert.deepEqual([pods, converged], [{ total: 1, ready: 0 }, false])
  assert.deepEqual(
    causes.map(({ reason, pods: count }) => [reason, count]),
    [
      ['Reason', 0],
      ['ScaledBelowMinAvailable', 0],
      ['Reason', 1],
      ['MinAvailableBreached Reason', 0],
    ],
  )
})
