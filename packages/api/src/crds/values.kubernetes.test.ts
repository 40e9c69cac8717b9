// SPDX-License-Identifier: Apache-2.0

// Tests the schemas alone on a real API server without webhooks: defaults, pruning, rejections.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import {
  smallestPodClique,
  smallestPodCliqueSet,
  smallestPodGang,
  smallestScalingGroup,
  smallestTopology,
} from '../testing/smallest-objects.ts'
import type { PodCliqueSet } from '../types/index.ts'
import { customResourceDefinitions } from './index.ts'

let kubernetes: Kubernetes
const grove = '/apis/grove.io/v1alpha1/namespaces/default'
const scheduler = '/apis/scheduler.grove.io/v1alpha1/namespaces/default'
const topologies = '/apis/grove.io/v1alpha1/clustertopologybindings'

before(async () => {
  kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
  await kubernetes.apply([...customResourceDefinitions])
  for (const path of [`${grove}/podcliquesets`, `${grove}/podcliques`, `${grove}/podcliquescalinggroups`])
    await waitFor(path, () => kubernetes.request('GET', path))
  for (const path of [`${scheduler}/podgangs`, topologies])
    await waitFor(path, () => kubernetes.request('GET', path))
})
after(() => kubernetes?.stop())

/**
 * The object as it would be stored. The API server prunes unknown fields, as for a controller, and does not reject
 * them, as for kubectl.
 */
async function stored<T>(path: string, object: T): Promise<T> {
  return kubernetes.request<T>('POST', `${path}?dryRun=All&fieldValidation=Ignore`, { body: object })
}

async function storedSet(change: (spec: PodCliqueSet['spec']) => void): Promise<PodCliqueSet['spec']> {
  const object = smallestPodCliqueSet('values')
  change(object.spec)
  return (await stored(`${grove}/podcliquesets`, object)).spec
}

/** The pod spec of the only clique with additional fields, which may be unknown to the type. */
async function storedPodSpec(members: object): Promise<Record<string, unknown>> {
  const spec = await storedSet(spec => Object.assign(spec.template.cliques[0]!.spec.podSpec, members))
  return { ...spec.template.cliques[0]!.spec.podSpec }
}

describe('defaults of a PodCliqueSet', () => {
  test('only schema defaults are set', async () => {
    assert.deepEqual(await storedSet(() => {}), {
      replicas: 0,
      template: {
        cliqueStartupType: 'CliqueStartupTypeAnyOrder',
        cliques: smallestPodCliqueSet('').spec.template.cliques,
      },
    })
  })
  test('objects that are present get their nested defaults', async () => {
    const spec = await storedSet(spec => {
      spec.updateStrategy = {}
      Object.assign(spec.template, { headlessServiceConfig: {} })
      spec.template.podCliqueScalingGroups = [{ name: 'group', cliqueNames: ['web'] }]
    })
    assert.deepEqual(spec.updateStrategy, { type: 'RollingRecreate' })
    assert.deepEqual(spec.template.headlessServiceConfig, { publishNotReadyAddresses: true })
    assert.deepEqual(spec.template.podCliqueScalingGroups, [
      { name: 'group', cliqueNames: ['web'], replicas: 1, minAvailable: 1 },
    ])
  })
})

describe('defaults of the embedded pod spec', () => {
  test('of a container', async () => {
    const container = {
      name: 'main',
      ports: [{ containerPort: 80 }],
      livenessProbe: { grpc: { port: 1 } },
      envFrom: [{ configMapRef: {} }],
      env: [
        { name: 'A', valueFrom: { fileKeyRef: { key: 'a', path: 'b', volumeName: 'c' } } },
        { name: 'B', valueFrom: { secretKeyRef: { key: 'a' } } },
      ],
    }
    assert.deepEqual((await storedPodSpec({ containers: [container] })).containers, [
      {
        ...container,
        ports: [{ containerPort: 80, protocol: 'TCP' }],
        livenessProbe: { grpc: { port: 1, service: '' } },
        envFrom: [{ configMapRef: { name: '' } }],
        env: [
          {
            name: 'A',
            valueFrom: { fileKeyRef: { key: 'a', path: 'b', volumeName: 'c', optional: false } },
          },
          { name: 'B', valueFrom: { secretKeyRef: { key: 'a', name: '' } } },
        ],
      },
    ])
  })

  const volumes: [string, object, object][] = [
    ['azureDisk', { diskName: 'd', diskURI: 'u' }, { fsType: 'ext4', readOnly: false }],
    ['iscsi', { targetPortal: 'p', iqn: 'i', lun: 0 }, { iscsiInterface: 'default' }],
    ['rbd', { monitors: ['m'], image: 'i' }, { keyring: '/etc/ceph/keyring', pool: 'rbd', user: 'admin' }],
    [
      'scaleIO',
      { gateway: 'g', system: 's', secretRef: { name: 'n' } },
      { fsType: 'xfs', storageMode: 'ThinProvisioned' },
    ],
    ['configMap', {}, { name: '' }],
  ]
  for (const [source, given, added] of volumes)
    test(`of a volume ${source}`, async () => {
      const spec = await storedPodSpec({ volumes: [{ name: 'v', [source]: given }] })
      assert.deepEqual(spec.volumes, [{ name: 'v', [source]: { ...given, ...added } }])
    })

  test('no other defaults are set', async () => {
    const { containers } = smallestPodClique('').spec.podSpec
    assert.deepEqual(await storedPodSpec({}), { containers })
  })
})

describe('pruning of the embedded pod spec', () => {
  test('fields of 1.35 and of later versions stay, unknown ones are pruned', async () => {
    const kept = {
      workloadRef: { name: 'w', podGroup: 'g' },
      schedulingGroup: { podGroupName: 'g' },
      hostnameOverride: 'host',
    }
    const spec = await storedPodSpec({ ...kept, fromTheFuture: true })
    assert.deepEqual(spec, { ...kept, containers: spec.containers })
  })
  test('empty lists and zero values stay as written', async () => {
    const given = { tolerations: [], hostNetwork: false, nodeSelector: {}, terminationGracePeriodSeconds: 0 }
    const spec = await storedPodSpec(given)
    assert.deepEqual(spec, { ...given, containers: spec.containers })
  })
  test('quantities stay as written', async () => {
    const overhead = { cpu: '0.5', memory: '1.5Gi', a: 8, b: '+1', c: '129e6' }
    assert.deepEqual((await storedPodSpec({ overhead })).overhead, overhead)
  })
  test('metadata of a volume claim template is pruned, a data source without API group is kept', async () => {
    const claim = { accessModes: ['ReadWriteOnce'], dataSource: { kind: 'PersistentVolumeClaim', name: 'd' } }
    const volumeClaimTemplate = { metadata: { labels: { a: 'b' } }, spec: claim }
    const spec = await storedPodSpec({ volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate } }] })
    assert.deepEqual(spec.volumes, [
      { name: 'v', ephemeral: { volumeClaimTemplate: { metadata: {}, spec: claim } } },
    ])
  })
})

test('a claim template loses its metadata, keeps opaque parameters and gets one default', async () => {
  const config = [
    { opaque: { driver: 'd', parameters: { apiVersion: 'v1', kind: 'K', any: { thing: [1] } } } },
  ]
  const request = (operator?: string) => ({
    name: 'r',
    exactly: {
      deviceClassName: 'gpu',
      tolerations: [{ key: 'k', value: 'v', ...(operator && { operator }) }],
    },
  })
  const spec = await storedSet(spec => {
    spec.template.resourceClaimTemplates = [
      {
        name: 'claim',
        templateSpec: {
          metadata: { labels: { a: 'b' } },
          spec: { devices: { requests: [request()], config } },
        },
      },
    ]
  })
  assert.deepEqual(spec.template.resourceClaimTemplates, [
    {
      name: 'claim',
      templateSpec: { metadata: {}, spec: { devices: { requests: [request('Equal')], config } } },
    },
  ])
})

describe('the other kinds', () => {
  test('a PodCliqueScalingGroup has one replica and minAvailable 1', async () => {
    const { spec } = await stored(`${grove}/podcliquescalinggroups`, smallestScalingGroup('values'))
    assert.deepEqual(spec, { cliqueNames: ['web'], replicas: 1, minAvailable: 1 })
  })
  test('a PodClique, a PodGang and a ClusterTopologyBinding have no defaults', async () => {
    const [clique, gang, topology] = [
      smallestPodClique('values'),
      smallestPodGang('values'),
      smallestTopology('values'),
    ]
    assert.deepEqual((await stored(`${grove}/podcliques`, clique)).spec, clique.spec)
    assert.deepEqual((await stored(`${scheduler}/podgangs`, gang)).spec, gang.spec)
    assert.deepEqual((await stored(topologies, topology)).spec, topology.spec)
  })
})

describe('rejected by the schema', () => {
  const table: [string, (spec: PodCliqueSet['spec']) => void, RegExp][] = [
    [
      'a negative number of replicas',
      spec => Object.assign(spec, { replicas: -1 }),
      /spec\.replicas.*non-negative/,
    ],
    [
      'two cliques of one name',
      spec => spec.template.cliques.push(spec.template.cliques[0]!),
      /spec\.template\.cliques\[1\]: Duplicate value/,
    ],
    [
      'two containers of one name',
      spec => spec.template.cliques[0]!.spec.podSpec.containers.push({ name: 'main' }),
      /podSpec\.containers\[1\]: Duplicate value/,
    ],
    [
      'one port twice',
      spec =>
        Object.assign(spec.template.cliques[0]!.spec.podSpec.containers[0]!, {
          ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'TCP' }],
        }),
      /ports\[1\]: Duplicate value/,
    ],
    [
      'an unknown startup type',
      spec => Object.assign(spec.template, { cliqueStartupType: 'Sometime' }),
      /cliqueStartupType: Unsupported value/,
    ],
    [
      'an unknown update strategy',
      spec => Object.assign(spec, { updateStrategy: { type: 'Never' } }),
      /updateStrategy\.type: Unsupported value/,
    ],
    [
      'an unknown scope of sharing',
      spec => Object.assign(spec.template, { resourceSharing: [{ name: 'c', scope: 'Mine' }] }),
      /resourceSharing\[0\]\.scope: Unsupported value/,
    ],
    [
      'a malformed quantity',
      spec => Object.assign(spec.template.cliques[0]!.spec.podSpec, { overhead: { cpu: 'much' } }),
      /overhead\.cpu: Invalid value/,
    ],
    [
      'a claim template without spec',
      spec => Object.assign(spec.template, { resourceClaimTemplates: [{ name: 'c', templateSpec: {} }] }),
      /templateSpec\.spec: Required value/,
    ],
    [
      'autoscaling without a maximum',
      spec => Object.assign(spec.template.cliques[0]!.spec, { autoScalingConfig: {} }),
      /autoScalingConfig\.maxReplicas: Required value/,
    ],
  ]
  for (const [name, change, wanted] of table) test(name, () => assert.rejects(storedSet(change), wanted))

  for (const member of ['roleName', 'podSpec', 'replicas'] as const)
    test(`a clique without ${member}`, () =>
      assert.rejects(
        storedSet(spec => {
          Reflect.deleteProperty(spec.template.cliques[0]!.spec, member)
        }),
        new RegExp(`cliques\\[0\\]\\.spec\\.${member}: Required value`),
      ))

  const levels: [string, object[]][] = [
    ['no levels', []],
    ['a domain in capitals', [{ domain: 'Rack', key: 'k' }]],
    ['a key with a blank', [{ domain: 'rack', key: 'a b' }]],
    ['a key of 318 characters', [{ domain: 'rack', key: 'k'.repeat(318) }]],
  ]
  for (const [name, value] of levels)
    test(`a topology with ${name}`, () =>
      assert.rejects(
        stored(topologies, { ...smallestTopology('values'), spec: { levels: value } }),
        /422.*spec\.levels/,
      ))
})
