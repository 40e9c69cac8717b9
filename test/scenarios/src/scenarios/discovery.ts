// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Scenario } from '../scenario.ts'
import { grouped } from './manifests.ts'

const endpointSlices = defineResource<KubeObject & { endpoints?: { hostname?: string }[] }>({
  group: 'discovery.k8s.io',
  version: 'v1',
  resource: 'endpointslices',
  kind: 'EndpointSlice',
  namespaced: true,
})

export const discoveryScenarios: Scenario[] = [
  {
    name: 'every pod resolves under the host name in its environment, before it is ready only if the set publishes unready addresses',
    async run(harness) {
      await harness.apply(grouped)
      const pods = await harness.untilReady('grouped', 10)
      const service = { name: 'grouped-0', namespace: harness.namespace }
      const wanted = [
        ...['grouped-0-router-0', 'grouped-0-router-1'],
        ...[0, 1].flatMap(replica => [
          `grouped-0-eng-${replica}-lead-0`,
          ...[0, 1, 2].map(index => `grouped-0-eng-${replica}-work-${index}`),
        ]),
      ].sort()
      assert.deepEqual(pods.map(pod => pod.spec?.hostname).sort(), wanted)
      assert.ok(pods.every(pod => pod.spec?.subdomain === service.name))
      await harness.until(
        'DNS records of all pods',
        async () => {
          const labelSelector = `kubernetes.io/service-name=${service.name}`
          const { items } = await harness.client.list(endpointSlices, {
            namespace: harness.namespace,
            labelSelector,
          })
          return items.flatMap(({ endpoints }) => (endpoints ?? []).map(({ hostname }) => hostname)).sort()
        },
        hostnames => hostnames.join() === wanted.join(),
      )
      const published = async () =>
        (await harness.client.get(resources.services, service)).spec?.publishNotReadyAddresses ?? false
      assert.equal(await published(), true)
      for (const flag of [false, true]) {
        await harness.edit('grouped', set => {
          set.spec.template.headlessServiceConfig = { publishNotReadyAddresses: flag }
        })
        await harness.until(
          `the Service to have publishNotReadyAddresses ${flag}`,
          published,
          seen => seen === flag,
        )
      }
      await harness.untilQuiet()
      const after = await harness.untilReady('grouped', 10)
      const uids = (all: typeof pods) => all.map(({ metadata }) => metadata.uid).sort()
      assert.deepEqual(uids(after), uids(pods))
    },
  },
]
