// SPDX-License-Identifier: Apache-2.0

import {
  type ClusterTopologyBinding,
  defaultScheduler,
  enabledSchedulers,
  operatorEnvironment,
  podTemplateHash,
  type ResourceClaimTemplate,
} from '@grove/api'
import {
  type RenderContext,
  render as renderSet,
  renderTopologies,
  type StoredSet,
  schedulerBackends,
} from '@grove/operator'
import { clusterOf } from '../cluster-from-manifests.ts'
import { readConfigurationFile } from '../configuration-file.ts'
import { readManifestsOf } from '../manifest-folders.ts'
import { printObjects } from '../print.ts'
import { kindOf, setsAmong, storedSet } from '../set-manifest.ts'

/** Stands for the operator's own version where there is no release: the tag of the waiter's image. */
const unreleasedVersion = 'v0.1.0-dev'

export async function render(options: {
  filename: string[]
  config?: string
  output: string
}): Promise<void> {
  const documents = await readManifestsOf(options.filename)
  const configuration = await readConfigurationFile(options.config)
  const named = <T>(kind: string): T[] =>
    documents.filter(document => kindOf(document) === kind).map(document => document.value as T)
  const image = process.env[operatorEnvironment.waiterImage] ?? 'grove-initc'
  const context: RenderContext = {
    backends: schedulerBackends([...enabledSchedulers(configuration)], defaultScheduler(configuration)),
    configuration,
    waiterImage: `${image}:${unreleasedVersion}`,
    topologyBindings: named<ClusterTopologyBinding>('ClusterTopologyBinding'),
    claimTemplates: named<ResourceClaimTemplate>('ResourceClaimTemplate'),
    podTemplateHashes: set =>
      Object.fromEntries(
        set.spec.template.cliques.map(clique => [clique.name, podTemplateHash(set.spec.template, clique)]),
      ),
  }
  const cluster = clusterOf(documents)
  // Which namespaces may lend claim templates is the cluster's business; what would be made of them is asked here.
  const lenient = { ...configuration, resourceSharing: { allowedTemplateNamespaces: ['*'] } }
  const sets = setsAmong(documents).map(
    document => storedSet(document, lenient, cluster) as unknown as StoredSet,
  )
  printObjects(
    [...sets.flatMap(set => renderSet(set, context)), ...renderTopologies(context)],
    options.output,
  )
}
