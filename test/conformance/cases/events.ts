// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { chapter } from '../suite.ts'

export const events = chapter('events and reviews', {
  'events of the core group are available in events.k8s.io': async ({ http, core, group, namespace }) => {
    const made = await http.post(core('events'), {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p', namespace },
      reason: 'Because',
      message: 'something happened',
      type: 'Normal',
      source: { component: 'me' },
      count: 2,
    })
    assert.equal(made.status, 201)
    const read = await http.get(group('events.k8s.io/v1', 'events/e'))
    assert.equal(read.at('apiVersion'), 'events.k8s.io/v1')
    assert.deepEqual(read.at('regarding'), { kind: 'Pod', name: 'p', namespace })
    assert.equal(read.at('note'), 'something happened')
    assert.deepEqual(read.at('deprecatedSource'), { component: 'me' })
    assert.equal(read.at('deprecatedCount'), 2)
  },
  'events of events.k8s.io are available in the core group': async ({ http, core, group, namespace }) => {
    const made = await http.post(group('events.k8s.io/v1', 'events'), {
      metadata: { name: 'e' },
      regarding: { kind: 'Pod', name: 'p', namespace },
      eventTime: '2026-01-02T03:04:05.678901Z',
      reportingController: 'example.com/me',
      reportingInstance: 'me-1',
      action: 'Look',
      reason: 'Because',
      note: 'something happened',
      type: 'Normal',
    })
    assert.equal(made.status, 201)
    const read = await http.get(core('events/e'))
    assert.equal(read.at('kind'), 'Event')
    assert.equal(read.at('apiVersion'), 'v1')
    assert.equal(read.at('message'), 'something happened')
    assert.equal(read.at('reportingComponent'), 'example.com/me')
    assert.equal(read.at('eventTime'), '2026-01-02T03:04:05.678901Z')
    assert.deepEqual(read.at('involvedObject'), { kind: 'Pod', name: 'p', namespace })
  },
  'an administrator has all rights': async ({ http, namespace }) => {
    const asked = await http.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { resourceAttributes: { namespace, verb: 'create', resource: 'pods' } },
    })
    assert.equal(asked.status, 201)
    assert.equal(asked.at('status.allowed'), true)
    assert.equal(asked.at('spec.resourceAttributes.verb'), 'create')
  },
  'a client can read its own user name': async ({ http }) => {
    const asked = await http.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {})
    assert.equal(asked.status, 201)
    assert.ok((asked.at('status.userInfo.groups') as string[]).includes('system:masters'))
    assert.ok((asked.at('status.userInfo.groups') as string[]).includes('system:authenticated'))
  },
  'the deletion of a job warns of orphaned pods': async ({ http, group }) => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'i' }] } }
    await http.post(group('batch/v1', 'jobs'), { metadata: { name: 'j' }, spec: { template } })
    const deleted = await http.delete(group('batch/v1', 'jobs/j'))
    assert.equal(deleted.status, 200)
    assert.match(
      String(deleted.headers.warning),
      /^299 - "child pods are preserved by default when jobs are deleted;/,
    )
    assert.deepEqual(deleted.at('metadata.finalizers'), ['orphan'])
  },
})
