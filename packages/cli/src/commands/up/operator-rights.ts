// SPDX-License-Identifier: Apache-2.0

// The identity of the operator in the embedded cluster: a service account with the same role as in a real cluster.
import { type OperatorConfiguration, operatorName } from '@grove/api'
import { type Client, defineResource, isAlreadyExists, type KubeObject, type Resource } from '@grove/kube'
import { operatorClusterRole } from '@grove/operator'

export const operatorNamespace = 'grove-system'

const core = (resource: string, kind: string, namespaced: boolean) =>
  defineResource<KubeObject>({ group: '', version: 'v1', resource, kind, namespaced })
const rbac = (resource: string, kind: string) =>
  defineResource<KubeObject>({
    group: 'rbac.authorization.k8s.io',
    version: 'v1',
    resource,
    kind,
    namespaced: false,
  })

export async function grantOperator(client: Client, configuration: OperatorConfiguration): Promise<void> {
  const role = operatorClusterRole(configuration)
  const { name } = role.metadata
  await once(client, core('namespaces', 'Namespace', false), {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: operatorNamespace },
  })
  await once(client, core('serviceaccounts', 'ServiceAccount', true), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: operatorName, namespace: operatorNamespace },
  })
  await once(client, rbac('clusterroles', 'ClusterRole'), role)
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: operatorName, namespace: operatorNamespace }],
  }
  await once(client, rbac('clusterrolebindings', 'ClusterRoleBinding'), binding)
}

/** A cluster with data has them already. */
async function once(client: Client, resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
  try {
    await client.create(resource, object)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
