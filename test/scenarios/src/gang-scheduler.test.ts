// SPDX-License-Identifier: Apache-2.0

import { after, before } from 'node:test'
import { inProcessTransport } from '@grove/cluster'
import { createClientOn } from '@grove/kube'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { gangDeviceTests } from './gang-devices.ts'
import { gangSchedulerTests } from './gang-scheduler.ts'
import { gangSetTests } from './gang-sets.ts'
import type { WriteCount } from './harness.ts'

const nodeCount = 14
let embedded: EmbeddedCluster
let namespaces = 0

before(async () => {
  embedded = await startEmbeddedCluster({ nodes: nodeCount })
})
after(() => embedded?.stop())

const cluster = () => ({
  client: embedded.client,
  connect: () =>
    createClientOn(inProcessTransport(embedded.cluster.handle), { userAgent: 'grove-scheduler' }),
  newNamespace: () => embedded.newNamespace(`gangs-${namespaces++}`),
  connectOperator: (writes: WriteCount[], namespace: string) => embedded.connect(writes, namespace),
  nodeNames: Array.from({ length: nodeCount }, (_, index) => `node-${index}`),
})

gangSchedulerTests('the gang scheduler on the embedded cluster', cluster)
gangDeviceTests('devices of gangs on the embedded cluster', cluster)
gangSetTests('sets under the gang scheduler on the embedded cluster', cluster)
