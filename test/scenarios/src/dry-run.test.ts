// SPDX-License-Identifier: Apache-2.0

// The gang scheduler with --dry-run: it reports on gangs of another scheduler and writes nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { label, type Pod, type PodGang } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { bindPod, createClientOn, silentLogger, systemClock } from '@grove/kube'
import { resources } from '@grove/operator'
import { defaultPolicy, plan, SchedulerCaches, type ShadowReport, ShadowScheduler } from '@grove/scheduler'
import { waitFor } from '@grove/test-kubernetes'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'

let embedded: EmbeddedCluster

before(async () => {
  embedded = await startEmbeddedCluster({ nodes: 2 })
})
after(() => embedded?.stop())

test('a dry run reports when gangs of another scheduler would be scheduled, and writes nothing', async () => {
  const { client } = embedded
  const namespace = await embedded.newNamespace('dry-run')
  const writes: string[] = []
  const observer = createClientOn(inProcessTransport(embedded.cluster.handle), {
    onRequest: ({ verb }) => {
      if (!['get', 'list', 'watch'].includes(verb)) writes.push(verb)
    },
  })
  const reports: ShadowReport[] = []
  const caches = new SchedulerCaches(observer)
  const abort = new AbortController()
  const watching = caches.run(abort.signal)
  await caches.waitForSync(abort.signal)
  const shadow = new ShadowScheduler({
    caches,
    clock: systemClock,
    log: silentLogger,
    plan,
    policy: defaultPolicy,
    schedulerName: 'grove-scheduler',
    onReport: report => reports.push(report),
  })
  await shadow.start(abort.signal)
  for (const [name, pods] of [
    ['fits', 2],
    ['large', 3],
  ] as const) {
    await client.create(resources.podGangs, {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name, namespace, labels: { [label.schedulerName]: 'other' } },
      spec: { podgroups: [{ name, podReferences: [], minReplicas: pods }] },
    } as PodGang)
    for (let at = 0; at < pods; at++)
      await client.create(resources.pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `${name}-${at}`,
          namespace,
          labels: { [label.podGang]: name, [label.podClique]: name },
        },
        spec: {
          schedulerName: 'other',
          containers: [{ name: 'main', image: 'i', resources: { limits: { 'nvidia.com/gpu': '8' } } }],
        },
      } as unknown as Pod)
    const initialized = {
      type: 'Initialized',
      status: 'True',
      reason: 'Test',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    await client.patch(
      resources.podGangs,
      { name, namespace },
      { merge: { status: { phase: 'Pending', conditions: [initialized] } } },
      { subresource: 'status' },
    )
  }
  const about = (gang: string, kind: ShadowReport['kind']) =>
    reports.find(report => report.gang === `${namespace}/${gang}` && report.kind === kind)
  await waitFor(
    'a report that the gang would be scheduled',
    () => about('fits', 'wouldSchedule') !== undefined,
  )
  await waitFor('a report that the large gang would wait', () =>
    reports.some(
      report =>
        report.gang.endsWith('/large') && report.kind === 'wouldWait' && report.code === 'ClusterTooSmall',
    ),
  )
  assert.deepEqual((about('fits', 'wouldSchedule') as { nodes?: unknown }).nodes, ['node-0', 'node-1'])
  for (const at of [0, 1]) await bindPod(client, { namespace, name: `fits-${at}` }, `node-${at}`)
  await waitFor(
    'a report that the other scheduler was later',
    () => about('fits', 'scheduledByOther') !== undefined,
  )
  const done = about('fits', 'scheduledByOther') as { sameNodes?: boolean; afterMs?: number }
  assert.equal(done.sameNodes, true)
  assert.ok(done.afterMs! >= 0)
  assert.deepEqual(writes, [])
  await shadow.stop()
  abort.abort()
  await watching
})
