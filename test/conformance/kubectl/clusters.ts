// SPDX-License-Identifier: Apache-2.0

// The two clusters of a session: the same nodes, the same operator.
import { readFileSync } from 'node:fs'
import { defaultConfiguration } from '@grove/api'
import { createCluster, inProcessTransport, serveHttps, startControllers } from '@grove/cluster'
import { type Client, createClient, createClientOn, loadKubeconfig } from '@grove/kube'
import { type RunningOperator, startOperator } from '@grove/operator'
import { startKubernetes } from '@grove/test-kubernetes'
import { installCustomResources } from '@grove/test-scenarios'

export interface SessionCluster {
  readonly kubeconfig: string
  stop(): Promise<void>
}

const nodeNames = ['node-a', 'node-b']

async function startOperatorOn(client: Client): Promise<RunningOperator> {
  await installCustomResources(client)
  return startOperator(client, { configuration: defaultConfiguration(), waiterImage: 'grove-initc:test' })
}

export async function startReal(): Promise<SessionCluster> {
  const kubernetes = await startKubernetes({ nodes: nodeNames.map(name => ({ name })) })
  const client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
  const operator = await startOperatorOn(client)
  return {
    kubeconfig: readFileSync(kubernetes.kubeconfig, 'utf8'),
    stop: async () => {
      await operator.stop()
      await client.close()
      await kubernetes.stop()
    },
  }
}

export async function startEmbedded(): Promise<SessionCluster> {
  const cluster = createCluster({ authorization: 'rbac', serviceAccountAdmission: true })
  const front = await serveHttps({ handle: cluster.handle, authenticate: cluster.authenticate })
  const controllers = await startControllers(createClientOn(inProcessTransport(cluster.handle)), {
    serviceAccounts: { caCertificate: front.certificates.authority, tokenIssuer: cluster.tokens },
  })
  await controllers.fleet.add(
    nodeNames.map(name => ({
      name,
      cpu: '64',
      memory: '512Gi',
      pods: 250,
      resources: { 'ephemeral-storage': '1Ti' },
      labels: { type: 'kwok' },
    })),
  )
  const operator = await startOperatorOn(createClientOn(inProcessTransport(cluster.handle)))
  return {
    kubeconfig: front.kubeconfig,
    stop: async () => {
      await operator.stop()
      await controllers.stop()
      await front.close()
      cluster.stop()
    },
  }
}
