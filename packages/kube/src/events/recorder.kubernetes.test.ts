// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { loadKubeconfig } from '../auth/index.ts'
import { type Client, createClient } from '../client/index.ts'
import { systemClock } from '../clock/index.ts'
import { createRegistry } from '../metrics/index.ts'
import type { EventFormat, EventSubject } from './event.ts'
import { EventRecorder } from './recorder.ts'
import { eventSink } from './sink.ts'

let kubernetes: Kubernetes
let client: Client
before(async () => {
  kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
  client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
})
after(async () => {
  await client?.close()
  await kubernetes?.stop()
})

async function subjectIn(namespace: string): Promise<EventSubject> {
  const { metadata } = await kubernetes.request<{ metadata: { uid: string } }>(
    'POST',
    `/api/v1/namespaces/${namespace}/configmaps`,
    { body: { metadata: { name: 'subject' } } },
  )
  return { apiVersion: 'v1', kind: 'ConfigMap', name: 'subject', namespace, uid: metadata.uid }
}

for (const format of ['core/v1', 'events.k8s.io/v1'] as const satisfies EventFormat[])
  describe(`events stored as ${format}`, () => {
    it('appear in kubectl get events and kubectl describe, with count and source', async () => {
      const namespace = await kubernetes.newNamespace('events')
      const subject = await subjectIn(namespace)
      const registry = createRegistry()
      const recorder = new EventRecorder({ sink: eventSink(client, format), clock: systemClock, registry })
      const of = recorder.for('fleet-controller')
      of.record(subject, { type: 'Warning', reason: 'PodCreateFailed', message: 'Error creating pod: quota' })
      for (let i = 0; i < 7; i++)
        of.record(subject, { type: 'Normal', reason: 'PodCreateSuccessful', message: 'Created Pod: a' })
      await recorder.stop(10_000)
      assert.doesNotMatch(
        await registry.metrics(),
        /event_recorder_events_total\{result="(rejected|dropped)"\}/,
      )

      const { stdout, stderr } = await kubernetes.kubectl('get', 'events', '-n', namespace, '--no-headers')
      assert.equal(stderr, '')
      const lines = stdout
        .trim()
        .split('\n')
        .map(line => line.split(/\s{2,}/).slice(1))
      assert.deepEqual(lines.map(columns => columns.join('|')).sort(), [
        'Normal|PodCreateSuccessful|configmap/subject|Created Pod: a',
        'Warning|PodCreateFailed|configmap/subject|Error creating pod: quota',
      ])
      const wide = await kubernetes.kubectl('get', 'events', '-n', namespace, '-o', 'json')
      const { items } = JSON.parse(wide.stdout) as {
        items: { reason: string; count?: number; reportingComponent: string; series?: { count: number } }[]
      }
      const repeated = items.find(item => item.reason === 'PodCreateSuccessful')
      assert.equal(repeated?.count ?? repeated?.series?.count, 7)
      assert.ok(items.every(item => item.reportingComponent === 'fleet-controller'))
      const described = await kubernetes.kubectl('describe', 'configmap', 'subject', '-n', namespace)
      assert.match(
        described.stdout,
        /Warning\s+PodCreateFailed\s+.*fleet-controller\s+Error creating pod: quota/,
      )
    })

    it('of cluster-scoped objects are in the namespace default', async () => {
      const { metadata } = await kubernetes.request<{ metadata: { uid: string } }>(
        'GET',
        '/api/v1/namespaces/default',
      )
      const recorder = new EventRecorder({ sink: eventSink(client, format), clock: systemClock })
      const reason = format === 'core/v1' ? 'TopologyInSync' : 'TopologyDriftDetected'
      recorder
        .for('clustertopology-controller')
        .record(
          { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: metadata.uid },
          { type: 'Normal', reason, message: 'in sync' },
        )
      await recorder.stop(10_000)
      const { stdout } = await kubernetes.kubectl('get', 'events', '-n', 'default', '--no-headers')
      assert.match(stdout, new RegExp(`Normal\\s+${reason}\\s+namespace/default\\s+in sync`))
    })
  })

describe('events that the server rejects', () => {
  it('are given up at once if their namespace does not exist', async () => {
    const registry = createRegistry()
    const recorder = new EventRecorder({ sink: eventSink(client), clock: systemClock, registry })
    recorder
      .for('test')
      .record(
        { apiVersion: 'v1', kind: 'Pod', name: 'a', namespace: 'nowhere' },
        { type: 'Normal', reason: 'Lost', message: 'not stored' },
      )
    await recorder.stop(10_000)
    assert.match(await registry.metrics(), /event_recorder_events_total\{result="rejected"\} 1\n/)
  })
})
