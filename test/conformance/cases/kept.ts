// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { pod, service } from '../objects.ts'
import { chapter } from '../suite.ts'

const nodes = '/api/v1/nodes'
const priorities = '/apis/scheduling.k8s.io/v1/priorityclasses'

export const kept = chapter('immutable fields', {
  'pod CIDR and provider ID of a node': async ({ http, id }) => {
    const made = await http.post(nodes, { metadata: { name: id }, spec: { podCIDR: '10.0.0.0/24' } })
    assert.deepEqual(made.at('spec.podCIDRs'), ['10.0.0.0/24'])
    const moved = await http.mergePatch(`${nodes}/${id}`, { spec: { podCIDR: '10.0.1.0/24' } })
    assert.match(
      moved.text('message'),
      /spec\.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid$/,
    )
    await http.mergePatch(`${nodes}/${id}`, { spec: { providerID: 'x' } })
    const renamed = await http.mergePatch(`${nodes}/${id}`, { spec: { providerID: 'y' } })
    assert.match(
      renamed.text('message'),
      /spec\.providerID: Invalid value: null: field cannot be modified once set$/,
    )
    await http.delete(`${nodes}/${id}`)
  },
  'data of a controller revision': async ({ http, group }) => {
    const path = group('apps/v1', 'controllerrevisions')
    await http.post(path, { metadata: { name: 'r' }, revision: 1, data: { a: 1 } })
    assert.match(
      (await http.mergePatch(`${path}/r`, { data: { a: 2 } })).text('message'),
      /is invalid: data: Invalid value: {"a":2}: field is immutable$/,
    )
    const renumbered = await http.mergePatch(`${path}/r`, { revision: 2 })
    assert.equal(renumbered.at('revision'), 2)
  },
  'data of an immutable secret': async ({ http, core }) => {
    await http.post(core('secrets'), { metadata: { name: 's' }, immutable: true, data: { a: 'AA==' } })
    const why = 'field is immutable when `immutable` is set'
    const patch = (body: object) => http.mergePatch(core('secrets/s'), body)
    assert.equal(
      (await patch({ data: { a: 'AAA=' } })).at('message'),
      `Secret "s" is invalid: data: Forbidden: ${why}`,
    )
    assert.equal(
      (await patch({ immutable: false })).at('message'),
      `Secret "s" is invalid: immutable: Forbidden: ${why}`,
    )
    assert.equal((await patch({ metadata: { labels: { a: 'b' } } })).status, 200)
  },
  'all fields of an event of events.k8s.io': async ({ http, core, group, namespace }) => {
    const path = group('events.k8s.io/v1', 'events')
    await http.post(path, {
      metadata: { name: 'e' },
      regarding: { kind: 'Pod', name: 'p', namespace },
      eventTime: '2026-01-02T03:04:05.678901Z',
      reportingController: 'example.com/me',
      reportingInstance: 'me-1',
      action: 'Look',
      reason: 'Because',
      type: 'Normal',
    })
    assert.match(
      (await http.mergePatch(`${path}/e`, { reason: 'Otherwise' })).text('message'),
      /^Event "e" is invalid: reason: Invalid value: "Otherwise": field is immutable$/,
    )
    const again = { count: 2, lastObservedTime: '2026-01-02T03:04:06.000000Z' }
    assert.equal((await http.mergePatch(`${path}/e`, { series: again })).status, 200)
    assert.equal((await http.get(core('events/e'))).at('series.count'), 2)
  },
  'the priority of a pod': async ({ http, core, id, eventually }) => {
    await http.post(priorities, { metadata: { name: id }, value: 7, preemptionPolicy: 'Never' })
    const made = await eventually(
      () => http.post(core('pods'), pod('p', { priorityClassName: id })),
      response => response.status === 201,
    )
    assert.equal(made.at('spec.priority'), 7)
    assert.equal(made.at('spec.preemptionPolicy'), 'Never')
    const other = await http.post(
      core('pods'),
      pod('q', { priorityClassName: id, preemptionPolicy: 'PreemptLowerPriority' }),
    )
    assert.equal(other.status, 403)
    assert.match(
      other.text('message'),
      /the string value of PreemptionPolicy \(PreemptLowerPriority\) must not be provided in pod spec; priority admission controller computed Never/,
    )
    await http.delete(`${priorities}/${id}`)
    assert.equal((await http.get(core('pods/p'))).at('spec.priority'), 7)
  },
  'system priority classes, and a single default class': async ({ http, id, eventually }) => {
    assert.equal(
      (await http.delete(`${priorities}/system-node-critical`)).at('message'),
      'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
    )
    await http.post(priorities, { metadata: { name: `${id}-a` }, value: 1, globalDefault: true })
    const second = await eventually(
      () =>
        http.post(
          priorities,
          { metadata: { name: `${id}-b` }, value: 2, globalDefault: true },
          { query: { dryRun: 'All' } },
        ),
      response => response.status === 403,
    )
    assert.match(
      second.text('message'),
      new RegExp(`PriorityClass ${id}-a is already marked as default. Only one default can exist$`),
    )
    await http.delete(`${priorities}/${id}-a`)
  },
  'cluster IP and node port of a service': async ({ http, core, id }) => {
    const number = 100 + Number(id.replace(/\D/g, ''))
    const asked = { clusterIP: `10.96.200.${number % 250}`, type: 'NodePort' }
    const ports = [{ port: 80, nodePort: 30_000 + number }]
    const made = await http.post(core('services'), service('a', { ...asked, ports }))
    assert.equal(made.status, 201, made.raw)
    assert.match(
      (await http.post(core('services'), service('b', { ...asked, type: 'ClusterIP' }))).text('message'),
      /spec\.clusterIPs: Invalid value: \["10\.96\.200\.\d+"\]: failed to allocate IP [\d.]+: provided IP is already allocated$/,
    )
    assert.match(
      (await http.post(core('services'), service('b', { type: 'NodePort', ports }))).text('message'),
      /spec\.ports\[0\]\.nodePort: Invalid value: \d+: provided port is already allocated$/,
    )
    const inner = await http.mergePatch(core('services/a'), { spec: { type: 'ClusterIP' } })
    assert.equal(inner.at('spec.ports.0.nodePort'), undefined)
    assert.equal(inner.at('spec.externalTrafficPolicy'), undefined)
    const named = await http.mergePatch(core('services/a'), {
      spec: { type: 'ExternalName', externalName: 'example.com' },
    })
    assert.equal(named.at('spec.clusterIP'), undefined)
    assert.equal(named.at('spec.internalTrafficPolicy'), undefined)
  },
  'finalizers of a namespace are qualified names': async ({ http, id }) => {
    const path = `/api/v1/namespaces/${id}`
    const rejected = await http.put(`${path}/finalize`, {
      metadata: { name: id },
      spec: { finalizers: ['bad'] },
    })
    const why = 'name is neither a standard finalizer name nor is it fully qualified'
    assert.equal(
      rejected.at('message'),
      `Namespace "${id}" is invalid: spec.finalizers[0]: Invalid value: "bad": ${why}`,
    )
    const early = await http.mergePatch(`${path}/status`, { status: { phase: 'Terminating' } })
    assert.match(
      early.text('message'),
      /status\.Phase: Invalid value: "Terminating": may only be 'Active' if `deletionTimestamp` is empty$/,
    )
  },
})
