// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { kinds } from '../kinds.ts'
import { crd, customResourceDefinitions, type GroveKind, generatorAnnotation, schemaOf } from './index.ts'

const group = 'grove.io'

describe('the five CRDs', () => {
  const table: [GroveKind, string, string, string, string][] = [
    ['PodClique', 'podcliques', group, 'pclq', 'Namespaced'],
    ['PodCliqueSet', 'podcliquesets', group, 'pcs', 'Namespaced'],
    ['PodCliqueScalingGroup', 'podcliquescalinggroups', group, 'pcsg', 'Namespaced'],
    ['ClusterTopologyBinding', 'clustertopologybindings', group, 'ct', 'Cluster'],
    ['PodGang', 'podgangs', 'scheduler.grove.io', 'pg', 'Namespaced'],
  ]

  test('are listed in installation order', () => {
    assert.deepEqual(
      customResourceDefinitions.map(one => one.spec.names.kind),
      table.map(([kind]) => kind),
    )
    assert.equal(customResourceDefinitions.length, Object.keys(kinds).length)
  })

  for (const [kind, plural, apiGroup, shortName, scope] of table) {
    test(`${kind}: names, scope, one served and stored version`, () => {
      const { metadata, spec } = crd(kind)
      assert.equal(metadata.name, `${plural}.${apiGroup}`)
      assert.deepEqual(spec.names, {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
      })
      assert.equal(spec.scope, scope)
      assert.equal(spec.preserveUnknownFields, undefined)
      assert.deepEqual(
        spec.versions.map(({ name, served, storage }) => ({ name, served, storage })),
        [{ name: 'v1alpha1', served: true, storage: true }],
      )
      assert.equal(spec.versions[0]?.schema?.openAPIV3Schema, schemaOf(kind))
    })
  }

  test('name the Kubernetes versions of their pod specs', () => {
    for (const { metadata } of customResourceDefinitions)
      assert.match(
        metadata.annotations?.[generatorAnnotation] ?? '',
        /^grove \S+, Kubernetes v1\.35\.\d+ and v1\.37\.\d+$/,
      )
  })

  test('fit into the annotation of a client-side apply', () => {
    for (const one of customResourceDefinitions)
      assert.ok(Buffer.byteLength(JSON.stringify(one)) < 256 * 1024, one.metadata.name)
  })
})

describe('subresources', () => {
  const scale = (labelSelectorPath: string) => ({
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath,
  })
  const table: [GroveKind, object][] = [
    ['PodCliqueSet', { status: {}, scale: scale('.status.hpaPodSelector') }],
    ['PodClique', { status: {}, scale: scale('.status.hpaPodSelector') }],
    ['PodCliqueScalingGroup', { status: {}, scale: scale('.status.selector') }],
    ['ClusterTopologyBinding', { status: {} }],
    ['PodGang', { status: {} }],
  ]
  for (const [kind, wanted] of table)
    test(kind, () => assert.deepEqual(crd(kind).spec.versions[0]?.subresources, wanted))
})

describe('printer columns', () => {
  const breach = 'MinBreached string .status.conditions[?(@.type=="MinAvailableBreached")].status wide'
  const age = 'Age date .metadata.creationTimestamp'
  const table: Record<GroveKind, string[]> = {
    PodCliqueSet: [
      'Replicas integer .spec.replicas',
      'Available integer .status.availableReplicas',
      'Updated integer .status.updatedReplicas',
      'PCLQs-Updated integer .status.updateProgress.updatedPodCliquesCount',
      'PCLQs-Total integer .status.updateProgress.totalPodCliquesCount',
      'PCSGs-Updated integer .status.updateProgress.updatedPodCliqueScalingGroupsCount',
      'PCSGs-Total integer .status.updateProgress.totalPodCliqueScalingGroupsCount',
      age,
    ],
    PodClique: [
      'MinAvail integer .spec.minAvailable',
      'Replicas integer .spec.replicas',
      'Ready integer .status.readyReplicas',
      'Scheduled integer .status.scheduledReplicas',
      'Updated integer .status.updatedReplicas',
      'Gated integer .status.scheduleGatedReplicas wide',
      breach,
      age,
    ],
    PodCliqueScalingGroup: [
      'MinAvail integer .spec.minAvailable',
      'Replicas integer .spec.replicas',
      'Available integer .status.availableReplicas',
      'Scheduled integer .status.scheduledReplicas',
      'Updated integer .status.updatedReplicas',
      'PCLQs-Updated integer .status.updateProgress.updatedPodCliquesCount',
      'PCLQs-Total integer .status.updateProgress.totalPodCliquesCount',
      breach,
      age,
    ],
    ClusterTopologyBinding: ['Domains string .spec.levels[*].domain', age],
    PodGang: ['Phase string .status.phase', age],
  }
  for (const [kind, wanted] of Object.entries(table) as [GroveKind, string[]][])
    test(kind, () => {
      const columns = crd(kind).spec.versions[0]?.additionalPrinterColumns ?? []
      assert.deepEqual(
        columns.map(({ name, type, jsonPath, priority }) =>
          [name, type, jsonPath, ...(priority === 1 ? ['wide'] : [])].join(' '),
        ),
        wanted,
      )
    })
})
