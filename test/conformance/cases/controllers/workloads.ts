// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { at } from '../../json.ts'
import { deployment, pod } from '../../objects.ts'
import { chapter } from '../../suite.ts'
import { isGone, rolledOut, withAccount } from './waits.ts'

const apps = 'apps/v1'
function template(name: string, spec: object = {}) {
  return {
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }], ...spec },
  }
}

export const workloads = chapter('workloads', {
  'a deployment creates and owns a replica set and its pods': async given => {
    const fixture = await withAccount(given)
    const { http, core, group } = fixture
    await http.post(group(apps, 'deployments'), deployment('d', { replicas: 2 }))
    const done = await rolledOut(fixture, 'deployments/d', 2)
    assert.equal(done.at('status.observedGeneration'), done.at('metadata.generation'))
    assert.equal(done.at('metadata.annotations', 'deployment.kubernetes.io/revision') ?? '1', '1')
    const sets = await http.get(group(apps, 'replicasets'))
    assert.equal(sets.items.length, 1)
    assert.equal(at(sets.items[0], 'metadata.ownerReferences.0.kind'), 'Deployment')
    const pods = await http.get(core('pods'))
    assert.deepEqual(
      pods.items.map(item => at(item, 'metadata.ownerReferences.0.kind')),
      ['ReplicaSet', 'ReplicaSet'],
    )
  },
  'a replica set replaces deleted pods': async given => {
    const fixture = await withAccount(given)
    const { http, core, group } = fixture
    await http.post(group(apps, 'deployments'), deployment('d', { replicas: 1 }))
    await rolledOut(fixture, 'deployments/d', 1)
    const [first] = (await http.get(core('pods'))).names
    await http.delete(core(`pods/${String(first)}`))
    await fixture.eventually(
      () => http.get(core('pods')),
      ({ names }) => names.length === 1 && names[0] !== first,
    )
  },
  'a stateful set creates pods in order, with stable names': async given => {
    const fixture = await withAccount(given)
    const { http, core, group } = fixture
    await http.post(group(apps, 'statefulsets'), {
      metadata: { name: 's' },
      spec: {
        replicas: 2,
        serviceName: 's',
        selector: { matchLabels: { app: 's' } },
        template: template('s'),
      },
    })
    await rolledOut(fixture, 'statefulsets/s', 2)
    assert.deepEqual((await http.get(core('pods'))).names.sort(), ['s-0', 's-1'])
    await http.mergePatch(group(apps, 'statefulsets/s'), { spec: { replicas: 1 } })
    await fixture.eventually(() => http.get(core('pods/s-1')), isGone)
    assert.equal((await http.get(core('pods/s-0'))).status, 200)
  },
  'a suspended job creates pods when it is resumed': async given => {
    const { http, core, group, eventually } = await withAccount(given)
    await http.post(group('batch/v1', 'jobs'), {
      metadata: { name: 'j' },
      spec: { suspend: true, template: template('j', { restartPolicy: 'Never' }) },
    })
    await eventually(
      () => http.get(group('batch/v1', 'jobs/j')),
      job => job.at('status.conditions.0.type') === 'Suspended',
    )
    assert.deepEqual((await http.get(core('pods'))).names, [])
    await http.mergePatch(group('batch/v1', 'jobs/j'), { spec: { suspend: false } })
    await eventually(
      () => http.get(core('pods')),
      ({ names }) => names.length === 1,
    )
  },
  'a gated pod is scheduled when its gates are removed': async given => {
    const { http, core, eventually } = await withAccount(given)
    await http.post(core('pods'), pod('p', { schedulingGates: [{ name: 'example.com/gate' }] }))
    const gated = await http.get(core('pods/p'))
    assert.equal(gated.at('status.conditions.0.reason'), 'SchedulingGated')
    assert.equal(gated.at('spec.nodeName'), undefined)
    await http.mergePatch(core('pods/p'), { spec: { schedulingGates: null } })
    const scheduled = await eventually(
      () => http.get(core('pods/p')),
      response => response.at('status.phase') === 'Running',
    )
    assert.ok(scheduled.at('spec.nodeName'))
  },
  'reports an unschedulable pod': async given => {
    const { http, core, eventually } = await withAccount(given)
    await http.post(core('pods'), pod('p', { nodeSelector: { nowhere: 'yes' } }))
    const waiting = await eventually(
      () => http.get(core('pods/p')),
      response => response.at('status.conditions.0.reason') === 'Unschedulable',
    )
    assert.match(
      waiting.text('status.conditions.0.message'),
      /^0\/\d+ nodes are available: \d+ node\(s\) didn't match Pod's node affinity\/selector/,
    )
  },
  'a disruption budget rejects evictions that would violate it': async given => {
    const fixture = await withAccount(given)
    const { http, core, group } = fixture
    await http.post(group('policy/v1', 'poddisruptionbudgets'), {
      metadata: { name: 'b' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'd' } } },
    })
    await http.post(group(apps, 'deployments'), deployment('d', { replicas: 1 }))
    await rolledOut(fixture, 'deployments/d', 1)
    await fixture.eventually(
      () => http.get(group('policy/v1', 'poddisruptionbudgets/b')),
      budget => budget.at('status.currentHealthy') === 1,
    )
    const [name] = (await http.get(core('pods'))).names
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }
    const rejected = await http.post(core(`pods/${String(name)}/eviction`), eviction)
    assert.equal(rejected.status, 429)
    assert.equal(
      rejected.at('details.causes.0.message'),
      'The disruption budget b needs 1 healthy pods and has 1 currently',
    )
    await http.mergePatch(group('policy/v1', 'poddisruptionbudgets/b'), { spec: { minAvailable: 0 } })
    await fixture.eventually(
      () => http.post(core(`pods/${String(name)}/eviction`), eviction),
      response => response.status === 201,
    )
  },
})

export const accounts = chapter('service accounts', {
  'every namespace has a default service account': async fixture => {
    await withAccount(fixture)
  },
  'a deleted default service account is recreated': async given => {
    const fixture = await withAccount(given)
    const { http, core } = fixture
    const first = (await http.get(core('serviceaccounts/default'))).at('metadata.uid')
    await http.delete(core('serviceaccounts/default'))
    await fixture.eventually(
      () => http.get(core('serviceaccounts/default')),
      response => response.status === 200 && response.at('metadata.uid') !== first,
    )
  },
  'a token Secret is filled, and deleted with its service account': async fixture => {
    const { http, core } = fixture
    await http.post(core('serviceaccounts'), { metadata: { name: 'robot' } })
    await http.post(core('secrets'), {
      metadata: { name: 'robot-token', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      type: 'kubernetes.io/service-account-token',
    })
    const filled = await fixture.eventually(
      () => http.get(core('secrets/robot-token')),
      response => response.at('data.token') !== undefined,
    )
    assert.equal(Buffer.from(filled.text('data.namespace'), 'base64').toString(), fixture.namespace)
    await http.delete(core('serviceaccounts/robot'))
    await fixture.eventually(() => http.get(core('secrets/robot-token')), isGone)
  },
})

export const claims = chapter('resource claims of pods', {
  'creates a claim from its template and deletes it with the pod': async given => {
    const { http, core, group, eventually } = await withAccount(given)
    await http.post(group('resource.k8s.io/v1', 'resourceclaimtemplates'), {
      metadata: { name: 't' },
      spec: {
        spec: { devices: { requests: [{ name: 'g', exactly: { deviceClassName: 'none.example.com' } }] } },
      },
    })
    await http.post(
      core('pods'),
      pod('p', { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }] }),
    )
    const owner = await eventually(
      () => http.get(core('pods/p')),
      response => response.at('status.resourceClaimStatuses.0.resourceClaimName') !== undefined,
    )
    const name = owner.text('status.resourceClaimStatuses.0.resourceClaimName')
    assert.match(name, /^p-gpu-[a-z0-9]{5}$/)
    const claim = await http.get(group('resource.k8s.io/v1', `resourceclaims/${name}`))
    assert.equal(claim.at('metadata.ownerReferences.0.name'), 'p')
    await http.delete(core('pods/p'))
    await eventually(() => http.get(group('resource.k8s.io/v1', `resourceclaims/${name}`)), isGone)
  },
})
