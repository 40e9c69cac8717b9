// SPDX-License-Identifier: Apache-2.0

// The identities of the operator and of the scheduler in the embedded cluster: service accounts with the same roles
// as in a real cluster.
import { type ClusterRole, type OperatorConfiguration, operatorName } from '@grove/api'
import { type Client, defineResource, isAlreadyExists, type KubeObject, type Resource } from '@grove/kube'
import { operatorClusterRole } from '@grove/operator'
import { schedulerAccountName, schedulerClusterRole } from '@grove/scheduler'

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
  await grant(client, operatorName, operatorClusterRole(configuration))
}

export async function grantScheduler(client: Client): Promise<void> {
  await grant(client, schedulerAccountName, schedulerClusterRole())
}

async function grant(client: Client, account: string, role: ClusterRole): Promise<void> {
  const { name } = role.metadata
  await once(client, core('namespaces', 'Namespace', false), {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: operatorNamespace },
  })
  await once(client, core('serviceaccounts', 'ServiceAccount', true), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: account, namespace: operatorNamespace },
  })
  await once(client, rbac('clusterroles', 'ClusterRole'), role)
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: operatorNamespace }],
  }
  await once(client, rbac('clusterrolebindings', 'ClusterRoleBinding'), binding)
}

/** A cluster with data already has them. */
async function once(client: Client, resource: Resource<KubeObject>, object: KubeObject): Promise<void> {
  try {
    await client.create(resource, object)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
