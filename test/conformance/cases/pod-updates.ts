// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

const main = { name: 'main', image: 'registry.example/app:1' }
const patient = { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }
const required = (...terms: object[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
})
const zone = { key: 'zone', operator: 'In', values: ['1', '2'] }
const disk = { key: 'disk', operator: 'Exists' }

const otherFields = 'spec: Forbidden: pod updates may not change fields other than'
const termsField =
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms'

/** Changes and the message of the rejection; undefined if the change is allowed. */
type Changes = Readonly<Record<string, readonly [spec: object, rejection?: string]>>

const ofRunning: Changes = {
  'another image': [{ containers: [{ ...main, image: 'new:2' }] }],
  'no image': [{ containers: [{ ...main, image: '' }] }, 'spec.containers[0].image: Required value'],
  'another command': [{ containers: [{ ...main, command: ['x'] }] }, otherFields],
  'an additional container': [
    { containers: [main, { name: 'b', image: 'i' }] },
    'spec.containers: Forbidden: pod updates may not add or remove containers',
  ],
  'a shorter deadline': [{ activeDeadlineSeconds: 5 }],
  'a longer deadline': [
    { activeDeadlineSeconds: 11 },
    'spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value',
  ],
  'no deadline': [
    { activeDeadlineSeconds: null },
    'spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value',
  ],
  'a longer toleration': [{ tolerations: [{ ...patient, tolerationSeconds: 50 }] }],
  'an additional toleration': [{ tolerations: [patient, { key: 'b', operator: 'Exists' }] }],
  'a replaced toleration': [
    { tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }] },
    'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
  ],
  'a node name': [{ nodeName: 'n' }, otherFields],
  'a node selector': [{ nodeSelector: { a: 'b' } }, otherFields],
  'another service account': [{ serviceAccountName: 'z' }, otherFields],
  'another scheduler': [{ schedulerName: 'x' }, otherFields],
  'another priority': [{ priority: 5 }, otherFields],
  'a resource claim': [{ resourceClaims: [{ name: 'a', resourceClaimName: 'b' }] }, otherFields],
  'a scheduling gate': [
    { schedulingGates: [{ name: 'a/b' }] },
    "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a/b'",
  ],
}

const ofGated: Changes = {
  'an additional node label': [{ nodeSelector: { z: 'w' } }],
  'a changed node label': [
    { nodeSelector: { x: 'other' } },
    'spec.nodeSelector: Invalid value: {"x":"other"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
  ],
  'a narrower affinity term': [{ affinity: required({ matchExpressions: [zone, disk] }) }],
  'another affinity term': [
    { affinity: required({ matchExpressions: [disk] }) },
    `${termsField}[0]: Invalid value: {"MatchExpressions":[{"Key":"disk","Operator":"Exists","Values":null}],"MatchFields":null}: only additions are allowed (no mutations or deletions)`,
  ],
  'an additional affinity term': [
    { affinity: required({ matchExpressions: [zone] }, { matchExpressions: [disk] }) },
    `${termsField}: Invalid value: [{"MatchExpressions":[{"Key":"zone",`,
  ],
  'no affinity terms': [
    { affinity: null },
    `${termsField}: Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed`,
  ],
  'pod affinity': [{ affinity: { ...required({ matchExpressions: [zone] }), podAffinity: {} } }, otherFields],
  'one gate removed': [{ schedulingGates: [{ name: 'a/c' }] }],
  'reordered gates': [{ schedulingGates: [{ name: 'a/c' }, { name: 'a/b' }] }],
  'all gates removed': [{ schedulingGates: null }],
  'a node name': [{ nodeName: 'n' }, 'spec: Forbidden: pod updates may not change fields other than'],
}

const ofGatedWithEmptyAffinity: Changes = {
  'all gates removed': [{ schedulingGates: null }],
  'no affinity': [{ affinity: null }, otherFields],
  'node affinity': [{ affinity: required({ matchExpressions: [zone] }) }],
  'pod affinity': [{ affinity: { podAffinity: {} } }, otherFields],
}

const ofGatedWithoutAffinity: Changes = {
  'an empty affinity': [{ affinity: {} }, otherFields],
  'node affinity': [{ affinity: required({ matchExpressions: [zone] }) }],
  'node and pod affinity': [
    { affinity: { ...required({ matchExpressions: [zone] }), podAffinity: {} } },
    otherFields,
  ],
}

async function tried({ http, core }: Fixture, spec: object, changes: Changes): Promise<void> {
  assert.equal((await http.post(core('pods'), pod('p', spec))).status, 201)
  const seen: Record<string, string | undefined> = {}
  const wanted: Record<string, string | undefined> = {}
  for (const [what, [change, rejection]] of Object.entries(changes)) {
    const response = await http.mergePatch(core('pods/p'), { spec: change }, { query: { dryRun: 'All' } })
    const message = response.status === 200 ? undefined : response.text('message')
    seen[what] = rejection && message?.includes(rejection) ? rejection : message
    wanted[what] = rejection
  }
  assert.deepEqual(seen, wanted)
}

export const podUpdates = chapter('mutable fields of a pod', {
  'without gates': fixture =>
    tried(fixture, { tolerations: [patient], activeDeadlineSeconds: 10 }, ofRunning),
  'with gates': fixture =>
    tried(
      fixture,
      {
        schedulingGates: [{ name: 'a/b' }, { name: 'a/c' }],
        nodeSelector: { x: 'y' },
        affinity: required({ matchExpressions: [zone] }),
      },
      ofGated,
    ),
  'with gates and an empty affinity': fixture =>
    tried(fixture, { schedulingGates: [{ name: 'a/b' }], affinity: {} }, ofGatedWithEmptyAffinity),
  'with gates and without affinity': fixture =>
    tried(fixture, { schedulingGates: [{ name: 'a/b' }] }, ofGatedWithoutAffinity),
  'in its status': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const patch = (status: object) => http.mergePatch(core('pods/p/status'), { status })
    assert.match(
      (await patch({ qosClass: 'Guaranteed' })).text('message'),
      /status\.qosClass: Invalid value: "Guaranteed": field is immutable$/,
    )
    assert.match(
      (await patch({ podIP: 'x', podIPs: [{ ip: 'x' }] })).text('message'),
      /status\.podIPs\[0\]: Invalid value: "x": must be a valid IP address/,
    )
    assert.match(
      (await patch({ nominatedNodeName: 'A_' })).text('message'),
      /status\.nominatedNodeName: Invalid value: "A_": a lowercase RFC 1123 subdomain/,
    )
    assert.deepEqual((await patch({ podIP: '10.0.0.1' })).at('status.podIPs'), [{ ip: '10.0.0.1' }])
  },
})
