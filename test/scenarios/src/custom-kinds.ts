// SPDX-License-Identifier: Apache-2.0

// Installs the custom resources of Grove, and stand-ins for those of other projects.
import { customResourceDefinitions } from '@grove/api'
import { type Client, defineResource, isAlreadyExists, type KubeObject, type Resource } from '@grove/kube'
import { resources } from '@grove/operator'
import { patienceMs } from './harness.ts'
import { pollIntervalMs } from './unchanged.ts'

const definitions = defineResource<KubeObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

/** Installs a stand-in for a custom resource of another project, unless it exists. Its schema accepts every object. */
export async function installStandIn(
  client: Client,
  resource: Resource<KubeObject>,
  openAPIV3Schema: object = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
): Promise<void> {
  const { group, version, kind, resource: plural, namespaced } = resource
  try {
    await client.create(definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: namespaced ? 'Namespaced' : 'Cluster',
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
      },
    } as KubeObject)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
  await served(client, resource)
}

/** Installs the custom resources and waits until they are served. */
export async function installCustomResources(client: Client): Promise<void> {
  for (const definition of customResourceDefinitions) await client.create(definitions, definition)
  for (const resource of [
    resources.podCliqueSets,
    resources.podCliques,
    resources.podCliqueScalingGroups,
    resources.podGangs,
    resources.clusterTopologyBindings,
  ])
    await served(client, resource)
}

async function served(client: Client, resource: Resource): Promise<void> {
  const end = Date.now() + patienceMs
  for (;;) {
    try {
      await client.list(resource, { namespace: 'default' })
      return
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise(resolve => setTimeout(resolve, pollIntervalMs))
    }
  }
}
