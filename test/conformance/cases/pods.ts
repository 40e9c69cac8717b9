// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { pod } from '../objects.ts'
import { chapter } from '../suite.ts'

export const pods = chapter('pods', {
  'sets the defaults of a pod': async ({ http, core }) => {
    const made = await http.post(core('pods'), pod('p'))
    assert.equal(made.status, 201)
    assert.deepEqual(made.at('spec'), {
      containers: [
        {
          name: 'main',
          image: 'registry.example/app:1',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: [
        {
          key: 'node.kubernetes.io/not-ready',
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        },
        {
          key: 'node.kubernetes.io/unreachable',
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        },
      ],
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    })
    assert.deepEqual(made.at('status'), { phase: 'Pending', qosClass: 'BestEffort' })
  },
  'the pull policy of an image without a tag is Always': async ({ http, core }) => {
    const made = await http.post(
      core('pods'),
      pod('p', {
        containers: [
          { name: 'a', image: 'app' },
          { name: 'b', image: 'app:latest' },
          { name: 'c', image: 'host:5000/app' },
          { name: 'd', image: 'app@sha256:0000000000000000000000000000000000000000000000000000000000000000' },
        ],
      }),
    )
    assert.deepEqual(
      (made.at('spec.containers') as { imagePullPolicy: string }[]).map(
        ({ imagePullPolicy }) => imagePullPolicy,
      ),
      ['Always', 'Always', 'Always', 'IfNotPresent'],
    )
  },
  'requests default to limits': async ({ http, core }) => {
    const made = await http.post(
      core('pods'),
      pod('p', {
        containers: [{ name: 'a', image: 'i', resources: { limits: { cpu: '1000m', memory: '1024Mi' } } }],
      }),
    )
    assert.deepEqual(made.at('spec.containers.0.resources'), {
      limits: { cpu: '1', memory: '1Gi' },
      requests: { cpu: '1', memory: '1Gi' },
    })
    assert.equal(made.at('status.qosClass'), 'Guaranteed')
  },
  'a pod with only requests is Burstable': async ({ http, core }) => {
    const made = await http.post(
      core('pods'),
      pod('p', { containers: [{ name: 'a', image: 'i', resources: { requests: { cpu: '100m' } } }] }),
    )
    assert.equal(made.at('status.qosClass'), 'Burstable')
  },
  'sets the defaults of probes': async ({ http, core }) => {
    const made = await http.post(
      core('pods'),
      pod('p', {
        containers: [
          {
            name: 'a',
            image: 'i',
            livenessProbe: { httpGet: { port: 80 } },
            readinessProbe: { exec: { command: ['x'] }, periodSeconds: 3 },
          },
        ],
      }),
    )
    assert.deepEqual(made.at('spec.containers.0.livenessProbe'), {
      httpGet: { path: '/', port: 80, scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    })
    assert.deepEqual(made.at('spec.containers.0.readinessProbe'), {
      exec: { command: ['x'] },
      timeoutSeconds: 1,
      periodSeconds: 3,
      successThreshold: 1,
      failureThreshold: 3,
    })
  },
  'sets the defaults of volumes': async ({ http, core }) => {
    const volumes = [
      { name: 'a', emptyDir: {} },
      { name: 'b', secret: { secretName: 's' } },
      { name: 'c', configMap: { name: 'm' } },
      { name: 'd' },
    ]
    const made = await http.post(core('pods'), pod('p', { volumes }))
    assert.deepEqual(made.at('spec.volumes'), [
      { name: 'a', emptyDir: {} },
      { name: 'b', secret: { secretName: 's', defaultMode: 420 } },
      { name: 'c', configMap: { name: 'm', defaultMode: 420 } },
      { name: 'd', emptyDir: {} },
    ])
  },
  'does not store empty values': async ({ http, core }) => {
    const made = await http.post(
      core('pods'),
      pod(
        'p',
        {
          containers: [
            {
              name: 'a',
              image: 'i',
              env: [{ name: 'E', value: '' }],
              args: [],
              command: null,
              ports: [{ containerPort: 1 }],
            },
          ],
        },
        { labels: {}, annotations: {} },
      ),
    )
    assert.deepEqual(made.at('spec.containers.0.env'), [{ name: 'E' }])
    assert.equal(made.at('spec.containers.0.args'), undefined)
    assert.deepEqual(made.at('spec.containers.0.ports'), [{ containerPort: 1, protocol: 'TCP' }])
    assert.equal(made.at('metadata.labels'), undefined)
  },
  'a gated pod has the condition PodScheduled with reason SchedulingGated': async ({ http, core }) => {
    const made = await http.post(core('pods'), pod('p', { schedulingGates: [{ name: 'example.com/wait' }] }))
    assert.equal(made.at('status.conditions.0.type'), 'PodScheduled')
    assert.equal(made.at('status.conditions.0.status'), 'False')
    assert.equal(made.at('status.conditions.0.reason'), 'SchedulingGated')
    assert.equal(
      made.at('status.conditions.0.message'),
      'Scheduling is blocked due to non-empty scheduling gates',
    )
  },
  'gates can be removed but not added': async ({ http, core }) => {
    await http.post(
      core('pods'),
      pod('p', { schedulingGates: [{ name: 'example.com/a' }, { name: 'example.com/b' }] }),
    )
    const fewer = await http.mergePatch(core('pods/p'), {
      spec: { schedulingGates: [{ name: 'example.com/b' }] },
    })
    assert.equal(fewer.status, 200)
    const rejected = await http.mergePatch(core('pods/p'), {
      spec: { schedulingGates: [{ name: 'example.com/b' }, { name: 'example.com/c' }] },
    })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /spec\.schedulingGates\[1\]\.name: Forbidden: only deletion is allowed, but found new scheduling gate 'example\.com\/c'/,
    )
    const none = await http.mergePatch(core('pods/p'), { spec: { schedulingGates: null } })
    assert.equal(none.at('spec.schedulingGates'), undefined)
  },
  'a gated pod can restrict its node affinity': async ({ http, core }) => {
    await http.post(core('pods'), pod('p', { schedulingGates: [{ name: 'example.com/a' }] }))
    const patched = await http.mergePatch(core('pods/p'), { spec: { nodeSelector: { zone: 'a' } } })
    assert.equal(patched.status, 200)
    assert.deepEqual(patched.at('spec.nodeSelector'), { zone: 'a' })
  },
  'the image of a pod is mutable': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const patched = await http.strategicPatch(core('pods/p'), {
      spec: { containers: [{ name: 'main', image: 'new:2' }] },
    })
    assert.equal(patched.status, 200)
    assert.equal(patched.at('spec.containers.0.image'), 'new:2')
    assert.equal(patched.at('metadata.generation'), 2)
  },
  'most fields of a pod are immutable': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const rejected = await http.mergePatch(core('pods/p'), { spec: { hostNetwork: true } })
    assert.equal(rejected.status, 422)
    assert.match(
      rejected.text('message'),
      /spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/,
    )
  },
  'tolerations can be added to a pod but not removed': async ({ http, core }) => {
    const made = await http.post(core('pods'), pod('p'))
    const more = [...(made.at('spec.tolerations') as object[]), { key: 'x', operator: 'Exists' }]
    assert.equal((await http.mergePatch(core('pods/p'), { spec: { tolerations: more } })).status, 200)
    const rejected = await http.mergePatch(core('pods/p'), { spec: { tolerations: null } })
    assert.equal(rejected.status, 422)
  },
})
