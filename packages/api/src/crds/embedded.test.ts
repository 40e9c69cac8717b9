// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { schemaPaths } from '../testing/schema-paths.ts'
import { embedded } from './embedded.ts'
import { schemaOf } from './index.ts'
import type { StructuralSchema } from './structural-schema.ts'

const podSpec = schemaPaths(embedded('core.v1.PodSpec'))

function at(path: string): StructuralSchema {
  const found = podSpec.get(path)
  assert.ok(found, `the pod spec has ${path}`)
  return found
}

describe('the embedded pod spec', () => {
  test('is the same in PodCliques and in the cliques of PodCliqueSets', () => {
    const inClique = schemaOf('PodClique').properties?.spec?.properties?.podSpec
    const template = schemaOf('PodCliqueSet').properties?.spec?.properties?.template
    const inSet = template?.properties?.cliques?.items?.properties?.spec?.properties?.podSpec
    assert.ok(inClique && inSet)
    assert.deepEqual(inClique, inSet)
    assert.equal(inClique.properties, inSet.properties)
  })

  test('requires containers and nothing else', () => assert.deepEqual(at('').required, ['containers']))

  test('has the fields of Kubernetes 1.35, and two newer ones', () => {
    const published =
      'activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks ' +
      'ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride ' +
      'imagePullSecrets initContainers nodeName nodeSelector os overhead preemptionPolicy priority ' +
      'priorityClassName readinessGates resourceClaims resources restartPolicy runtimeClassName schedulerName ' +
      'schedulingGates securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace ' +
      'subdomain terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes workloadRef'
    const later = ['evictionResponders', 'schedulingGroup']
    assert.deepEqual(Object.keys(at('').properties ?? {}).sort(), [...published.split(' '), ...later].sort())
  })

  test('has no constraint on values except the pattern of quantities', () => {
    for (const [path, schema] of podSpec) {
      for (const keyword of ['enum', 'minimum', 'minLength', 'maxLength', 'minItems'] as const)
        assert.equal(schema[keyword], undefined, path)
      assert.equal(schema['x-kubernetes-validations'], undefined, path)
      if (schema.pattern) assert.equal(schema['x-kubernetes-int-or-string'], true, path)
    }
  })

  test('accepts quantities in every form that Kubernetes accepts', () => {
    const { pattern } = at('containers[].resources.limits{}')
    for (const good of ['1', '500m', '1.5Gi', '.5', '+1', '1e3', '129e6', '12E', '1.', '-2Ki'])
      assert.match(good, new RegExp(pattern ?? ''))
    for (const bad of ['', 'one', '1 Gi', '1gi', '--1', '1Kii'])
      assert.doesNotMatch(bad, new RegExp(pattern ?? ''))
  })

  const containers = ['containers', 'initContainers', 'ephemeralContainers']
  const perContainer = {
    env: ['name'],
    ports: ['containerPort', 'protocol'],
    volumeMounts: ['mountPath'],
    volumeDevices: ['devicePath'],
    'resources.claims': ['name'],
  }

  test('has map keys for these lists, and for no others', () => {
    const wanted: Record<string, string[]> = {
      volumes: ['name'],
      imagePullSecrets: ['name'],
      resourceClaims: ['name'],
      schedulingGates: ['name'],
      hostAliases: ['ip'],
      topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
      'resources.claims': ['name'],
      // Newer than the published API.
      evictionResponders: ['name'],
    }
    for (const list of containers) {
      wanted[list] = ['name']
      for (const [name, keys] of Object.entries(perContainer)) wanted[`${list}[].${name}`] = keys
    }
    const found = [...podSpec]
      .filter(([, schema]) => schema['x-kubernetes-list-type'] === 'map')
      .map(([path, schema]) => [path, schema['x-kubernetes-list-map-keys']])
    assert.deepEqual(Object.fromEntries(found), wanted)
  })

  test('replaces these lists as a whole', () => {
    for (const list of ['tolerations', 'readinessGates'])
      assert.equal(at(list)['x-kubernetes-list-type'], 'atomic', list)
    const maps = ['nodeSelector', 'imagePullSecrets[]', 'containers[].env[].valueFrom.secretKeyRef']
    for (const map of [...maps, 'containers[].envFrom[].configMapRef', 'volumes[].configMap'])
      assert.equal(at(map)['x-kubernetes-map-type'], 'atomic', map)
  })

  test('has these defaults, and no others', () => {
    const byValue = new Map<string, Set<string>>()
    for (const [path, schema] of podSpec) {
      if (schema.default === undefined) continue
      const short = path.split('.').slice(-2).join('.').replaceAll('[]', '')
      const value = JSON.stringify(schema.default)
      byValue.set(value, (byValue.get(value) ?? new Set()).add(short))
    }
    assert.deepEqual(Object.fromEntries([...byValue].map(([value, names]) => [value, [...names].sort()])), {
      '"TCP"': ['ports.protocol'],
      '""': [
        'configMap.name',
        'configMapKeyRef.name',
        'configMapRef.name',
        'grpc.service',
        'imagePullSecrets.name',
        'nodePublishSecretRef.name',
        'secret.name',
        'secretKeyRef.name',
        'secretRef.name',
      ],
      false: ['azureDisk.readOnly', 'fileKeyRef.optional'],
      '"ext4"': ['azureDisk.fsType'],
      '"default"': ['iscsi.iscsiInterface'],
      '"/etc/ceph/keyring"': ['rbd.keyring'],
      '"rbd"': ['rbd.pool'],
      '"admin"': ['rbd.user'],
      '"xfs"': ['scaleIO.fsType'],
      '"ThinProvisioned"': ['scaleIO.storageMode'],
    })
  })

  test('declares no metadata of claim templates, so that it is pruned', () => {
    assert.deepEqual(at('volumes[].ephemeral.volumeClaimTemplate.metadata'), { type: 'object' })
  })

  test('allows a data source without an API group', () => {
    assert.deepEqual(at('volumes[].ephemeral.volumeClaimTemplate.spec.dataSource').required, ['kind', 'name'])
  })
})

describe('the embedded claim template', () => {
  const claim = schemaPaths(embedded('resource.v1.ResourceClaimTemplateSpec'))

  test('requires its spec', () => assert.deepEqual(claim.get('')?.required, ['spec']))
  test('prunes its metadata', () => assert.deepEqual(claim.get('metadata'), { type: 'object' }))
  test('has one default', () => {
    const found = [...claim].filter(([, schema]) => schema.default !== undefined)
    assert.deepEqual(
      found.map(([path, schema]) => [path, schema.default]),
      [
        ['spec.devices.requests[].exactly.tolerations[].operator', 'Equal'],
        ['spec.devices.requests[].firstAvailable[].tolerations[].operator', 'Equal'],
      ],
    )
  })
  test('has atomic lists only', () => {
    for (const [path, schema] of claim)
      if (schema.type === 'array') assert.equal(schema['x-kubernetes-list-type'], 'atomic', path)
  })
  const required: [string, string[]][] = [
    ['spec.devices.requests[]', ['name']],
    ['spec.devices.requests[].exactly', ['deviceClassName']],
    ['spec.devices.requests[].firstAvailable[]', ['name', 'deviceClassName']],
    ['spec.devices.config[].opaque', ['driver', 'parameters']],
  ]
  for (const [path, names] of required)
    test(`requires ${names.join(' and ')} in ${path}`, () =>
      assert.deepEqual([...(claim.get(path)?.required ?? [])].sort(), [...names].sort()))
})

describe('the embedded metrics', () => {
  const metric = schemaPaths(embedded('autoscaling.v2.MetricSpec'))
  const required: [string, string[]][] = [
    ['', ['type']],
    ['resource', ['name', 'target']],
    ['containerResource', ['container', 'name', 'target']],
    ['pods', ['metric', 'target']],
    ['object', ['describedObject', 'metric', 'target']],
    ['object.describedObject', ['kind', 'name']],
    ['external', ['metric', 'target']],
    ['external.metric', ['name']],
    ['external.target', ['type']],
  ]
  for (const [path, names] of required)
    test(`require ${names.join(', ')} in ${path || 'a metric'}`, () =>
      assert.deepEqual([...(metric.get(path)?.required ?? [])].sort(), names))
  test('treat label selectors as atomic', () =>
    assert.equal(metric.get('pods.metric.selector')?.['x-kubernetes-map-type'], 'atomic'))
})
