// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { service } from '../objects.ts'
import { chapter } from '../suite.ts'

export const services = chapter('services', {
  'a service gets a cluster IP': async ({ http, core }) => {
    const made = await http.post(core('services'), service('s'))
    assert.equal(made.status, 201)
    const address = made.text('spec.clusterIP')
    assert.match(address, /^10\.\d+\.\d+\.\d+$/)
    assert.deepEqual(made.at('spec'), {
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      selector: { app: 's' },
      clusterIP: address,
      clusterIPs: [address],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    })
    assert.deepEqual(made.at('status'), { loadBalancer: {} })
  },
  'a headless service has no cluster IP': async ({ http, core }) => {
    const made = await http.post(core('services'), service('s', { clusterIP: 'None' }))
    assert.equal(made.at('spec.clusterIP'), 'None')
    assert.deepEqual(made.at('spec.clusterIPs'), ['None'])
  },
  'a service keeps its cluster IP in an update that omits it': async ({ http, core }) => {
    const made = await http.post(core('services'), service('s'))
    const updated = await http.put(core('services/s'), service('s', { ports: [{ port: 81 }] }))
    assert.equal(updated.status, 200)
    assert.equal(updated.at('spec.clusterIP'), made.at('spec.clusterIP'))
  },
  'the cluster IP of a service is immutable': async ({ http, core }) => {
    await http.post(core('services'), service('s'))
    const rejected = await http.mergePatch(core('services/s'), {
      spec: { clusterIP: '10.96.3.4', clusterIPs: ['10.96.3.4'] },
    })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /spec\.clusterIPs\[0\]: Invalid value: \["10\.96\.3\.4"\]: may not change once set/,
    )
  },
  'a NodePort service gets a node port': async ({ http, core }) => {
    const made = await http.post(core('services'), service('s', { type: 'NodePort' }))
    const port = Number(made.at('spec.ports.0.nodePort'))
    assert.ok(port >= 30_000 && port <= 32_767)
    assert.equal(made.at('spec.externalTrafficPolicy'), 'Cluster')
  },
  'an ExternalName service has no cluster IP': async ({ http, core }) => {
    const made = await http.post(core('services'), {
      metadata: { name: 's' },
      spec: { type: 'ExternalName', externalName: 'example.com' },
    })
    assert.deepEqual(made.at('spec'), {
      externalName: 'example.com',
      sessionAffinity: 'None',
      type: 'ExternalName',
    })
  },
  'a service requires ports': async ({ http, core }) => {
    const rejected = await http.post(core('services'), service('s', { ports: [] }))
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /spec\.ports: Required value/)
  },
  'several ports require names': async ({ http, core }) => {
    const rejected = await http.post(core('services'), service('s', { ports: [{ port: 1 }, { port: 2 }] }))
    assert.match(
      rejected.text('message'),
      /spec\.ports\[0\]\.name: Required value, spec\.ports\[1\]\.name: Required value/,
    )
  },
})
