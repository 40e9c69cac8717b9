// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock, KubeError } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import type { OperatorContext } from '../operator-context.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { syncKaiTopology } from './kai-topology.ts'

test('a topology of a cluster without KAI is reported with what to install', async () => {
  const api = new SimulatedApi(new FakeClock(), {
    servesOptionalKinds: false,
  })
  api.hooks = {
    before: async () => {
      throw new KubeError({ code: 'NotFound', message: '404 page not found' })
    },
    after: () => undefined,
  }
  const binding = api.put(resources.clusterTopologyBindings, {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'ClusterTopologyBinding',
    metadata: { name: 'fabric' },
    spec: { levels: [{ domain: 'rack', key: 'example.com/rack' }] },
  })
  const context = { caches: api.caches } as unknown as OperatorContext
  assert.deepEqual(await syncKaiTopology(context, binding, new AbortController().signal), {
    entry: {
      schedulerName: 'kai-scheduler',
      topologyReference: 'fabric',
      inSync: false,
      message:
        'the cluster does not serve Topology of kai.scheduler/v1alpha1: install the scheduler kai-scheduler',
    },
    failed: true,
  })
})
