// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { deployment } from '../objects.ts'
import { chapter } from '../suite.ts'

export const kinds = chapter('defaults and rules of kinds', {
  'a namespace gets its name as a label, a phase and a finalizer': async ({ http, id }) => {
    const read = await http.get(`/api/v1/namespaces/${id}`)
    assert.deepEqual(read.at('metadata.labels'), { 'kubernetes.io/metadata.name': id })
    assert.deepEqual(read.at('spec'), { finalizers: ['kubernetes'] })
    assert.deepEqual(read.at('status'), { phase: 'Active' })
  },
  'the name of a namespace must be a DNS label': async ({ http }) => {
    const rejected = await http.post('/api/v1/namespaces', { metadata: { name: 'a.b' } })
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /metadata\.name: Invalid value: "a\.b": /)
  },
  'a secret converts stringData to data': async ({ http, core }) => {
    const made = await http.post(core('secrets'), {
      metadata: { name: 's' },
      stringData: { a: 'text' },
      data: { b: 'eA==' },
    })
    assert.equal(made.at('type'), 'Opaque')
    assert.deepEqual(made.at('data'), { a: 'dGV4dA==', b: 'eA==' })
    assert.equal(made.at('stringData'), undefined)
  },
  'a network policy gets its types from its rules, and TCP as the protocol': async ({ http, group }) => {
    const post = async (name: string, rules: object) =>
      http.post(group('networking.k8s.io/v1', 'networkpolicies'), {
        metadata: { name },
        spec: { podSelector: {}, ...rules },
      })
    assert.deepEqual((await post('closed', {})).at('spec.policyTypes'), ['Ingress'])
    assert.deepEqual((await post('none', { egress: [] })).at('spec.policyTypes'), ['Ingress'])
    assert.deepEqual((await post('out', { egress: [{}] })).at('spec.policyTypes'), ['Ingress', 'Egress'])
    const ports = await post('in', { ingress: [{ ports: [{ port: 80 }] }] })
    assert.equal(ports.at('spec.ingress.0.ports.0.protocol'), 'TCP')
  },
  'the type of a secret is immutable': async ({ http, core }) => {
    await http.post(core('secrets'), { metadata: { name: 's' } })
    const rejected = await http.mergePatch(core('secrets/s'), { type: 'example.com/other' })
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /type: Invalid value: "example\.com\/other": field is immutable/)
  },
  'the data of an immutable config map is immutable': async ({ http, core }) => {
    await http.post(core('configmaps'), { metadata: { name: 'm' }, immutable: true, data: { a: '1' } })
    const rejected = await http.mergePatch(core('configmaps/m'), { data: { a: '2' } })
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /data: Forbidden: field is immutable when `immutable` is set/)
    assert.equal(
      (await http.mergePatch(core('configmaps/m'), { metadata: { labels: { a: 'b' } } })).status,
      200,
    )
  },
  'a new node has the not-ready taint': async ({ http, id }) => {
    const made = await http.post('/api/v1/nodes', { metadata: { name: id } })
    assert.deepEqual(made.at('spec'), {
      taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }],
    })
    assert.deepEqual(made.at('status.daemonEndpoints'), { kubeletEndpoint: { Port: 0 } })
  },
  'a new node keeps the status of the create request': async ({ http, id }) => {
    const capacity = { cpu: '4', memory: '8Gi', 'example.com/device': '2' }
    const made = await http.post('/api/v1/nodes', { metadata: { name: id }, status: { capacity } })
    assert.deepEqual(made.at('status.capacity'), capacity)
  },
  'sets the defaults of a deployment': async ({ http, group }) => {
    const { spec } = deployment('d') as { spec: { selector: object; template: object } }
    const made = await http.post(group('apps/v1', 'deployments'), {
      metadata: { name: 'd' },
      spec: { selector: spec.selector, template: spec.template },
    })
    assert.equal(made.at('spec.replicas'), 1)
    assert.deepEqual(made.at('spec.strategy'), {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' },
    })
    assert.equal(made.at('spec.revisionHistoryLimit'), 10)
    assert.equal(made.at('spec.progressDeadlineSeconds'), 600)
    assert.equal(made.at('spec.template.spec.enableServiceLinks'), undefined)
    assert.deepEqual(made.at('spec.template.metadata'), { labels: { app: 'd' } })
  },
  'the selector of a deployment is immutable': async ({ http, group }) => {
    await http.post(group('apps/v1', 'deployments'), deployment('d'))
    const rejected = await http.mergePatch(group('apps/v1', 'deployments/d'), {
      spec: {
        selector: { matchLabels: { app: 'd', more: 'x' } },
        template: { metadata: { labels: { app: 'd', more: 'x' } } },
      },
    })
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /spec\.selector: Invalid value: .*: field is immutable/)
  },
  'the selector of a deployment must match its template': async ({ http, group }) => {
    const rejected = await http.post(
      group('apps/v1', 'deployments'),
      deployment('d', { selector: { matchLabels: { app: 'other' } } }),
    )
    assert.equal(rejected.status, 422)
    assert.equal(
      rejected.at('message'),
      'Deployment.apps "d" is invalid: spec.template.metadata.labels: Invalid value: {"app":"d"}: `selector` does not match template `labels`',
    )
  },
  'sets the defaults of a stateful set': async ({ http, group }) => {
    const { spec } = deployment('s') as { spec: object }
    const made = await http.post(group('apps/v1', 'statefulsets'), {
      metadata: { name: 's' },
      spec: { ...spec, serviceName: 's' },
    })
    assert.equal(made.status, 201)
    assert.equal(made.at('spec.podManagementPolicy'), 'OrderedReady')
    assert.equal(made.at('spec.updateStrategy.type'), 'RollingUpdate')
    assert.equal(made.at('spec.updateStrategy.rollingUpdate.partition'), 0)
    assert.deepEqual(made.at('spec.persistentVolumeClaimRetentionPolicy'), {
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    })
    assert.deepEqual(made.at('status'), { replicas: 0, availableReplicas: 0 })
  },
  'generates selector and labels of a job': async ({ http, group }) => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'i' }] } }
    const made = await http.post(group('batch/v1', 'jobs'), { metadata: { name: 'j' }, spec: { template } })
    const uid = made.at('metadata.uid')
    assert.equal(made.status, 201)
    assert.deepEqual(made.at('spec.selector'), { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } })
    assert.deepEqual(made.at('spec.template.metadata.labels'), {
      'batch.kubernetes.io/controller-uid': uid,
      'batch.kubernetes.io/job-name': 'j',
      'controller-uid': uid,
      'job-name': 'j',
    })
    assert.equal(made.at('spec.backoffLimit'), 6)
    assert.equal(made.at('spec.completions'), 1)
    assert.equal(made.at('spec.parallelism'), 1)
    assert.equal(made.at('spec.completionMode'), 'NonIndexed')
    assert.equal(made.at('spec.suspend'), false)
  },
  'rejects restartPolicy Always in a job': async ({ http, group }) => {
    const rejected = await http.post(group('batch/v1', 'jobs'), {
      metadata: { name: 'j' },
      spec: { template: { spec: { containers: [{ name: 'a', image: 'i' }] } } },
    })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /spec\.template\.spec\.restartPolicy: Required value: valid values: "OnFailure", "Never"/,
    )
  },
  'sets the defaults of an autoscaler': async ({ http, group }) => {
    const made = await http.post(group('autoscaling/v2', 'horizontalpodautoscalers'), {
      metadata: { name: 'h' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
    })
    assert.equal(made.status, 201)
    assert.equal(made.at('spec.minReplicas'), 1)
    assert.deepEqual(made.at('spec.metrics'), [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
      },
    ])
  },
  'maxReplicas of an autoscaler must not be below minReplicas': async ({ http, group }) => {
    const rejected = await http.post(group('autoscaling/v2', 'horizontalpodautoscalers'), {
      metadata: { name: 'h' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        minReplicas: 4,
        maxReplicas: 3,
      },
    })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /spec\.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`/,
    )
  },
  'sets the default groups of a role binding': async ({ http, group }) => {
    const made = await http.post(group('rbac.authorization.k8s.io/v1', 'rolebindings'), {
      metadata: { name: 'b' },
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: 'default' },
      ],
    })
    assert.equal(made.status, 201)
    assert.equal(made.at('roleRef.apiGroup'), 'rbac.authorization.k8s.io')
    assert.equal(made.at('subjects.0.apiGroup'), 'rbac.authorization.k8s.io')
    assert.equal(made.at('subjects.1.apiGroup'), undefined)
  },
  'the role of a binding is immutable': async ({ http, group }) => {
    const path = group('rbac.authorization.k8s.io/v1', 'rolebindings')
    await http.post(path, { metadata: { name: 'b' }, roleRef: { kind: 'ClusterRole', name: 'view' } })
    const rejected = await http.mergePatch(`${path}/b`, { roleRef: { kind: 'ClusterRole', name: 'edit' } })
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /roleRef: Invalid value: .*: field is immutable$/)
  },
  'sets the defaults of a priority class, and its value is immutable': async ({ http, id }) => {
    const made = await http.post('/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: id },
      value: 7,
    })
    assert.equal(made.at('preemptionPolicy'), 'PreemptLowerPriority')
    const rejected = await http.mergePatch(`/apis/scheduling.k8s.io/v1/priorityclasses/${id}`, { value: 8 })
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /value: Forbidden: may not be changed in an update\.$/)
  },
  'sets the defaults of a resource claim': async ({ http, group }) => {
    const made = await http.post(group('resource.k8s.io/v1', 'resourceclaims'), {
      metadata: { name: 'c' },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }] } },
    })
    assert.equal(made.status, 201)
    assert.deepEqual(made.at('spec.devices.requests.0.exactly'), {
      deviceClassName: 'gpu.example.com',
      allocationMode: 'ExactCount',
      count: 1,
    })
  },
  'sets the defaults of a webhook configuration': async ({ http, id }) => {
    const made = await http.post('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      metadata: { name: id },
      webhooks: [
        {
          name: 'a.example.com',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { service: { name: 's', namespace: 'n' } },
          rules: [
            {
              operations: ['CREATE'],
              apiGroups: ['none.example.com'],
              apiVersions: ['v1'],
              resources: ['x'],
            },
          ],
        },
      ],
    })
    assert.equal(made.status, 201)
    assert.equal(made.at('webhooks.0.failurePolicy'), 'Fail')
    assert.equal(made.at('webhooks.0.matchPolicy'), 'Equivalent')
    assert.equal(made.at('webhooks.0.timeoutSeconds'), 10)
    assert.deepEqual(made.at('webhooks.0.namespaceSelector'), {})
    assert.equal(made.at('webhooks.0.clientConfig.service.port'), 443)
    assert.equal(made.at('webhooks.0.rules.0.scope'), '*')
  },
})
