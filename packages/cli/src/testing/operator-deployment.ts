// SPDX-License-Identifier: Apache-2.0

// The Deployment and the ConfigMap of the chart, which `grove doctor` reads. The operator process is not one of its
// pods.
import { defineResource } from '@grove/kube'
import { type OperatorHost, operatorNamespace } from '@grove/test-scenarios'

const deployment = { namespace: operatorNamespace, name: 'grove-operator' }
const deployments = defineResource({
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  namespaced: true,
})

export async function deployOperator(
  host: Pick<OperatorHost, 'apply' | 'client'>,
  /** Text is stored as it is. */
  configuration: object | string,
  ready = 1,
): Promise<void> {
  const name = 'grove-operator-configuration'
  const container = { name: 'grove-operator', image: 'registry.example/operator:1' }
  const labels = { app: 'grove-operator' }
  await host.apply([
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: operatorNamespace, name },
      data: {
        'config.yaml': typeof configuration === 'string' ? configuration : JSON.stringify(configuration),
      },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: deployment,
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [container], volumes: [{ name: 'operator-config', configMap: { name } }] },
        },
      },
    },
  ])
  await host.client.patch(
    deployments,
    deployment,
    { merge: { status: { replicas: 1, readyReplicas: ready } } },
    { subresource: 'status' },
  )
}
