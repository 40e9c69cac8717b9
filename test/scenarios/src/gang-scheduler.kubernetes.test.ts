// SPDX-License-Identifier: Apache-2.0

import { after, before } from 'node:test'
import type { Client } from '@grove/kube'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { adminClient } from './admin-client.ts'
import { installCustomResources } from './custom-kinds.ts'
import { gangSchedulerTests } from './gang-scheduler.ts'

const nodeCount = 14
const clients: Client[] = []
let kubernetes: Kubernetes
let client: Client

const connect = () => {
  const made = adminClient(kubernetes)
  clients.push(made)
  return made
}

before(async () => {
  kubernetes = await startKubernetes({ nodes: nodeCount, gpus: 8 })
  client = connect()
  await installCustomResources(client)
})
after(async () => {
  for (const one of clients) await one.close()
  await kubernetes?.stop()
})

gangSchedulerTests('the gang scheduler on real Kubernetes', () => ({
  client,
  connect,
  newNamespace: () => kubernetes.newNamespace('gangs'),
  nodeNames: Array.from({ length: nodeCount }, (_, index) => `node-${String(index).padStart(3, '0')}`),
}))
