// SPDX-License-Identifier: Apache-2.0

// Quotas and limits of a namespace, which only a real cluster enforces.
import assert from 'node:assert/strict'
import { annotation, label } from '@grove/api'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Scenario } from '../scenario.ts'
import { grouped } from './manifests.ts'

const core = (resource: string, kind: string) =>
  defineResource<KubeObject & { status?: { hard?: object } }>({
    group: '',
    version: 'v1',
    resource,
    kind,
    namespaced: true,
  })
const quotas = core('resourcequotas', 'ResourceQuota')
const limitRanges = core('limitranges', 'LimitRange')

export const limitScenarios: Scenario[] = [
  {
    name: 'a quota holds back a gang as a whole and is reported; default limits of a namespace and evictions cause no update',
    async run(harness) {
      const { client, namespace } = harness
      const ref = { name: 'team', namespace }
      await client.create(limitRanges, {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: ref,
        spec: { limits: [{ type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '10m' } }] },
      } as KubeObject)
      await client.create(quotas, {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: ref,
        spec: { hard: { pods: '5' } },
      } as KubeObject)
      await harness.until(
        'the quota to be enforced',
        () => client.get(quotas, ref),
        ({ status }) => status?.hard !== undefined,
      )
      await harness.apply(grouped)
      const rejected = await harness.until(
        'a clique with lastErrors',
        () => harness.cliques('grouped'),
        cliques => cliques.some(({ status }) => status?.lastErrors?.length),
      )
      const [error] = rejected.flatMap(({ status }) => status?.lastErrors ?? [])
      assert.match(error!.description, /exceeded quota: team/)
      const half = await harness.until(
        'as many pods as the quota allows',
        () => harness.pods('grouped'),
        pods => pods.length === 5,
      )
      for (const { spec } of half)
        assert.equal(spec?.nodeName, undefined, 'no pod of an incomplete gang is scheduled')

      await client.patch(quotas, ref, { merge: { spec: { hard: { pods: '20' } } } })
      await harness.patchSet('grouped', {
        metadata: { annotations: { [annotation.reconcileTrigger]: 'now' } },
      })
      const pods = await harness.untilReady('grouped', 10)
      await harness.untilAvailable('grouped', 1)
      for (const { spec } of pods) assert.equal(spec?.containers[0]?.resources?.limits?.cpu, '500m')
      assert.deepEqual(await harness.writesOfAnotherReconcile('grouped'), [])

      const evicted = pods.find(
        ({ metadata }) => metadata.labels?.[label.podClique] === 'grouped-0-eng-0-work',
      )!
      await client.patch(
        resources.pods,
        { name: evicted.metadata.name, namespace },
        { merge: { status: { phase: 'Failed', reason: 'Evicted', message: 'the node was low on memory' } } },
        { subresource: 'status' },
      )
      const after = await harness.until(
        'a replacement of the pod',
        () => harness.pods('grouped'),
        seen => seen.length === 10 && seen.every(({ metadata }) => metadata.uid !== evicted.metadata.uid),
      )
      assert.ok(
        after.some(({ metadata }) =>
          [label.podClique, label.podIndex].every(
            key => metadata.labels?.[key] === evicted.metadata.labels?.[key],
          ),
        ),
      )
      await harness.untilReady('grouped', 10)
    },
  },
  {
    name: 'a quota and a minimum for requests accept pods with a startup waiter if they accept their other containers',
    async run(harness) {
      const { client, namespace } = harness
      const ref = { name: 'team', namespace }
      await client.create(limitRanges, {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: ref,
        spec: { limits: [{ type: 'Container', min: { cpu: '100m', memory: '64Mi' } }] },
      } as KubeObject)
      await client.create(quotas, {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: ref,
        spec: { hard: { 'requests.cpu': '2', 'requests.memory': '2Gi' } },
      } as KubeObject)
      await harness.until(
        'the quota to be enforced',
        () => client.get(quotas, ref),
        ({ status }) => status?.hard !== undefined,
      )
      const clique = (name: string) => `
      - name: ${name}
        spec:
          roleName: ${name}
          replicas: 2
          podSpec:
            containers:
              - {name: main, image: 'registry.example/main:1', resources: {requests: {cpu: 500m, memory: 512Mi}}}`
      await harness.apply(`
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: ordered}
spec:
  replicas: 1
  template:
    cliqueStartupType: CliqueStartupTypeInOrder
    cliques:${clique('first')}${clique('second')}
`)
      // The requests of the pods use the quota completely.
      await harness.untilReady('ordered', 4)
    },
  },
]
