// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sameCanonical } from './canonical.ts'
import { canonicalPodSpec } from './canonical-pod.ts'
import { podTemplateHash } from './hash.ts'
import { defaultPullPolicy } from './pod-rules.ts'

type Pod = Record<string, unknown>

const main = (members: Pod = {}): Pod => ({ name: 'main', image: 'app:1', ...members })
const pod = (container: Pod = {}, members: Pod = {}): Pod => ({ containers: [main(container)], ...members })
const volume = (source: Pod): Pod => pod({}, { volumes: [{ name: 'v', ...source }] })
const hash = (podSpec: Pod) => podTemplateHash({}, { spec: { podSpec } })

function assertSame(left: Pod, right: Pod): void {
  assert.deepEqual(canonicalPodSpec(left), canonicalPodSpec(right))
  assert.equal(hash(left), hash(right))
}

function assertDifferent(left: Pod, right: Pod): void {
  assert.ok(!sameCanonical(canonicalPodSpec(left), canonicalPodSpec(right)))
  assert.notEqual(hash(left), hash(right))
}

describe('lists without a significant order', () => {
  const inPod: Record<string, [Pod, Pod]> = {
    containers: [main(), { name: 'sidecar', image: 'proxy:2' }],
    ephemeralContainers: [
      { name: 'debug', image: 'shell:1' },
      { name: 'trace', image: 'shell:1' },
    ],
    volumes: [
      { name: 'b', emptyDir: {} },
      { name: 'a', secret: { secretName: 's' } },
    ],
    imagePullSecrets: [{ name: 'two' }, { name: 'one' }],
    hostAliases: [
      { ip: '10.0.0.2', hostnames: ['b'] },
      { ip: '10.0.0.1', hostnames: ['a'] },
    ],
    topologySpreadConstraints: [
      { topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 1 },
      { topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', maxSkew: 2 },
    ],
    resourceClaims: [
      { name: 'gpu', resourceClaimName: 'x' },
      { name: 'nic', resourceClaimName: 'y' },
    ],
  }
  const inContainer: Record<string, [Pod, Pod]> = {
    ports: [
      { containerPort: 9090, protocol: 'UDP' },
      { containerPort: 80, name: 'http' },
    ],
    volumeMounts: [
      { name: 'v', mountPath: '/b' },
      { name: 'v', mountPath: '/a' },
    ],
    volumeDevices: [
      { name: 'v', devicePath: '/dev/b' },
      { name: 'v', devicePath: '/dev/a' },
    ],
    resizePolicy: [
      { resourceName: 'memory', restartPolicy: 'RestartContainer' },
      { resourceName: 'cpu', restartPolicy: 'NotRequired' },
    ],
  }
  for (const [list, [a, b]] of Object.entries(inPod))
    test(list, () => assertSame(pod({}, { [list]: [a, b] }), pod({}, { [list]: [b, a] })))
  for (const place of ['containers', 'initContainers', 'ephemeralContainers'])
    for (const [list, [a, b]] of Object.entries(inContainer))
      test(`${place}[].${list}`, () =>
        assertSame(
          pod({}, { [place]: [main({ [list]: [a, b] })] }),
          pod({}, { [place]: [main({ [list]: [b, a] })] }),
        ))

  test('ties are broken by the content', () => {
    const ports = [
      { containerPort: 80, hostIP: '10.0.0.1' },
      { containerPort: 80, protocol: 'TCP', hostIP: '10.0.0.2' },
      { containerPort: 80, hostPort: 81 },
    ]
    assertSame(pod({ ports }), pod({ ports: ports.toReversed() }))
    assertSame(
      pod({ ports }, { hostNetwork: true }),
      pod({ ports: ports.toReversed() }, { hostNetwork: true }),
    )
  })
})

describe('lists with a significant order', () => {
  const key = (name: string) => ({ key: name, operator: 'Exists' })
  const cases: Record<string, (list: 'given' | 'reversed') => Pod> = {
    initContainers: order =>
      pod({}, { initContainers: turn(order, [main(), { name: 'second', image: 'b:1' }]) }),
    env: order =>
      pod({
        env: turn(order, [
          { name: 'A', value: '1' },
          { name: 'B', value: '$(A)' },
        ]),
      }),
    envFrom: order =>
      pod({ envFrom: turn(order, [{ secretRef: { name: 'a' } }, { secretRef: { name: 'b' } }]) }),
    args: order => pod({ args: turn(order, ['--a', '--b']) }),
    command: order => pod({ command: turn(order, ['sh', '-c']) }),
    tolerations: order => pod({}, { tolerations: turn(order, [key('a'), key('b')]) }),
    readinessGates: order =>
      pod({}, { readinessGates: turn(order, [{ conditionType: 'a' }, { conditionType: 'b' }]) }),
    'dnsConfig.searches': order => pod({}, { dnsConfig: { searches: turn(order, ['a', 'b']) } }),
    'resources.claims': order => pod({ resources: { claims: turn(order, [{ name: 'a' }, { name: 'b' }]) } }),
    'securityContext.supplementalGroups': order =>
      pod({}, { securityContext: { supplementalGroups: turn(order, [1, 2]) } }),
    'projected sources': order =>
      volume({
        projected: { sources: turn(order, [{ secret: { name: 'a' } }, { configMap: { name: 'a' } }]) },
      }),
  }
  for (const [name, make] of Object.entries(cases))
    test(name, () => assertDifferent(make('given'), make('reversed')))

  function turn<T>(order: 'given' | 'reversed', list: T[]): T[] {
    return order === 'given' ? list : list.toReversed()
  }
})

describe('defaults of the API server equal absent fields', () => {
  const http = { httpGet: { port: 80 } }
  const cases: [name: string, absent: Pod, explicit: Pod][] = [
    ['pod', pod(), pod({}, { dnsPolicy: 'ClusterFirst', restartPolicy: 'Always', securityContext: {} })],
    ['grace period', pod(), pod({}, { terminationGracePeriodSeconds: 30, enableServiceLinks: true })],
    [
      'termination message',
      pod(),
      pod({ terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }),
    ],
    ['pull policy of a tag', pod(), pod({ imagePullPolicy: 'IfNotPresent' })],
    ['pull policy of latest', pod({ image: 'a' }), pod({ image: 'a', imagePullPolicy: 'Always' })],
    ['port', pod({ ports: [{ containerPort: 1 }] }), pod({ ports: [{ containerPort: 1, protocol: 'TCP' }] })],
    [
      'probe',
      pod({ livenessProbe: http }),
      pod({
        livenessProbe: {
          httpGet: { port: 80, path: '/', scheme: 'HTTP' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      }),
    ],
    [
      'grpc',
      pod({ startupProbe: { grpc: { port: 1 } } }),
      pod({ startupProbe: { grpc: { port: 1, service: '' } } }),
    ],
    [
      'downward API',
      pod({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'f' } } }] }),
      pod({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'f', apiVersion: 'v1' } } }] }),
    ],
    [
      'secret mode',
      volume({ secret: { secretName: 's' } }),
      volume({ secret: { secretName: 's', defaultMode: 420 } }),
    ],
    [
      'config map mode',
      volume({ configMap: { name: 'c' } }),
      volume({ configMap: { name: 'c', defaultMode: 420 } }),
    ],
    ['projected mode', volume({ projected: {} }), volume({ projected: { defaultMode: 420, sources: [] } })],
    ['host path', volume({ hostPath: { path: '/p' } }), volume({ hostPath: { path: '/p', type: '' } })],
    ['volume without a source', volume({}), volume({ emptyDir: {} })],
    [
      'old service account',
      pod({}, { serviceAccount: 's' }),
      pod({}, { serviceAccount: 's', serviceAccountName: 's' }),
    ],
    [
      'requests follow limits',
      pod({ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } } }),
      pod({
        resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1000m', memory: '1024Mi' } },
      }),
    ],
    [
      'host ports on the host network',
      pod({ ports: [{ containerPort: 80 }] }, { hostNetwork: true }),
      pod({ ports: [{ containerPort: 80, hostPort: 80 }] }, { hostNetwork: true }),
    ],
  ]
  for (const [name, absent, explicit] of cases) test(name, () => assertSame(absent, explicit))

  test('except the scheduler, which the operator chooses', () => {
    assertDifferent(pod(), pod({}, { schedulerName: 'default-scheduler' }))
  })
  test('other values are kept', () => {
    assertDifferent(pod(), pod({}, { terminationGracePeriodSeconds: 31 }))
    assertDifferent(pod(), pod({ imagePullPolicy: 'Always' }))
    assertDifferent(
      pod({ ports: [{ containerPort: 80 }] }),
      pod({ ports: [{ containerPort: 80, hostPort: 80 }] }),
    )
  })
})

describe('absent, null, empty and zero', () => {
  const cases: [name: string, left: Pod, right: Pod][] = [
    ['lists', pod(), pod({ args: [], env: null, ports: [] }, { tolerations: [], volumes: null })],
    ['maps', pod(), pod({ resources: { limits: {}, requests: null } }, { nodeSelector: {}, overhead: {} })],
    [
      'plain values',
      pod(),
      pod({ tty: false, stdin: false, workingDir: '' }, { hostNetwork: false, nodeName: '' }),
    ],
    [
      'empty structs of optional settings',
      pod(),
      pod({ securityContext: {}, lifecycle: {} }, { affinity: { nodeAffinity: {} } }),
    ],
    ['divisor', fieldRef({}), fieldRef({ divisor: '0' })],
  ]
  for (const [name, left, right] of cases) test(`${name} are equal`, () => assertSame(left, right))

  const kept: [name: string, podSpec: Pod][] = [
    ['automountServiceAccountToken: false', pod({}, { automountServiceAccountToken: false })],
    ['priority: 0', pod({}, { priority: 0 })],
    ['runAsUser: 0', pod({ securityContext: { runAsUser: 0 } })],
    ['terminationGracePeriodSeconds: 0', pod({}, { terminationGracePeriodSeconds: 0 })],
    ['enableServiceLinks: false', pod({}, { enableServiceLinks: false })],
    ['an empty argument', pod({ args: [''] })],
    ['an empty node label', pod({}, { nodeSelector: { gpu: '' } })],
    ['a limit of zero', pod({ resources: { limits: { cpu: '0' } } })],
  ]
  for (const [name, podSpec] of kept) test(`${name} is kept`, () => assertDifferent(pod(), podSpec))

  test('an empty selector differs from an absent one', () => {
    const term = (members: Pod) => ({
      affinity: {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', ...members }] },
      },
    })
    assertDifferent(pod({}, term({})), pod({}, term({ namespaceSelector: {} })))
    assertSame(pod({}, term({})), pod({}, term({ namespaceSelector: null, namespaces: [] })))
  })

  function fieldRef(members: Pod): Pod {
    return pod({
      env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', ...members } } }],
    })
  }
})

describe('quantities are compared by amount', () => {
  const places: [name: string, make: (quantity: unknown) => Pod][] = [
    ['limits', q => pod({ resources: { limits: { memory: q } } })],
    ['requests', q => pod({ resources: { requests: { memory: q } } })],
    ['pod resources', q => pod({}, { resources: { limits: { memory: q } } })],
    ['overhead', q => pod({}, { overhead: { memory: q } })],
    ['emptyDir', q => volume({ emptyDir: { sizeLimit: q } })],
    [
      'divisor',
      q =>
        pod({
          env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: q } } }],
        }),
    ],
    [
      'claim',
      q =>
        volume({ ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: q } } } } } }),
    ],
  ]
  for (const [name, make] of places)
    test(name, () => {
      for (const text of ['1024Mi', '1073741824', 1073741824, '1073741824000m'])
        assertSame(make('1Gi'), make(text))
      assertDifferent(make('1Gi'), make('1G'))
      assert.doesNotThrow(() => canonicalPodSpec(make('a lot')))
    })
})

test('the default pull policy depends on the tag', () => {
  const digest = `sha256:${'0'.repeat(64)}`
  for (const image of ['a', 'a:latest', 'r.example:5000/a', 'r.example:5000/a:latest', `a:latest@${digest}`])
    assert.equal(defaultPullPolicy(image), 'Always', image)
  for (const image of ['a:1', 'r.example:5000/a:1', `a@${digest}`, `r.example:5000/a@${digest}`, ''])
    assert.equal(defaultPullPolicy(image), 'IfNotPresent', image)
})
