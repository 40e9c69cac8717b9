// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { Response } from '../../http.ts'
import { at } from '../../json.ts'
import { pod } from '../../objects.ts'
import { chapter, type Fixture } from '../../suite.ts'
import { withAccount } from './waits.ts'

const nodes = '/api/v1/nodes'
const taint = { key: 'example.com/gone', effect: 'NoExecute' }
const toleration = { key: taint.key, operator: 'Exists', effect: taint.effect }

/** A node without a kubelet: no component renews its lease or deletes its pods. */
async function lonelyNode({ http, id }: Fixture, status: string): Promise<string> {
  const now = new Date().toISOString()
  const times = { lastHeartbeatTime: now, lastTransitionTime: now }
  await http.post(nodes, {
    metadata: { name: id, annotations: { 'simulate.grove.io/stopped': 'true' } },
    status: { conditions: [{ type: 'Ready', status, ...times }] },
  })
  return `${nodes}/${id}`
}

const taintsOf = (node: Response) =>
  ((node.at('spec.taints') ?? []) as object[]).map(each => `${at(each, 'key')}:${at(each, 'effect')}`)

// The grace period of a node is ten minutes on one server and fifty seconds on the other. Tests of the embedded cluster
// cover it with a fake clock.
export const nodeFailures = chapter('node failures', {
  'a node without heartbeats is tainted': async fixture => {
    const path = await lonelyNode(fixture, 'Unknown')
    const seen = await fixture.eventually(
      () => fixture.http.get(path),
      node => taintsOf(node).some(each => each.endsWith('NoExecute')),
    )
    assert.deepEqual(
      taintsOf(seen)
        .filter(each => each.includes('unreachable'))
        .sort(),
      ['node.kubernetes.io/unreachable:NoExecute', 'node.kubernetes.io/unreachable:NoSchedule'],
    )
    await fixture.http.delete(path)
  },
  'evicts pods from a tainted node when their toleration ends': async given => {
    const fixture = await withAccount(given)
    const { http, core, eventually, id } = fixture
    const path = await lonelyNode(fixture, 'True')
    for (const [name, tolerations] of Object.entries({
      hasty: [],
      brief: [{ ...toleration, tolerationSeconds: 1 }],
      patient: [toleration],
    }))
      await http.post(core('pods'), pod(name, { nodeName: id, tolerations }))
    await http.mergePatch(path, { spec: { taints: [taint] } })
    for (const name of ['hasty', 'brief']) {
      const leaving = await eventually(
        () => http.get(core(`pods/${name}`)),
        response => response.at('metadata.deletionTimestamp') !== undefined,
      )
      const conditions = (leaving.at('status.conditions') ?? []) as object[]
      const why = conditions.find(each => at(each, 'type') === 'DisruptionTarget')
      assert.equal(at(why, 'reason'), 'DeletionByTaintManager')
      assert.equal(at(why, 'message'), 'Taint manager: deleting due to NoExecute taint')
    }
    assert.equal((await http.get(core('pods/patient'))).at('metadata.deletionTimestamp'), undefined)
    for (const name of ['hasty', 'brief', 'patient'])
      await http.delete(core(`pods/${name}`), { gracePeriodSeconds: 0 })
    await http.delete(path)
  },
})
