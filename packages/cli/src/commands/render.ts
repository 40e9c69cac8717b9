// SPDX-License-Identifier: Apache-2.0

import {
  admit,
  type ClusterTopologyBinding,
  defaultScheduler,
  enabledSchedulers,
  type OperatorConfiguration,
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
import { CommandError } from '../command-error.ts'
import { clusterOf } from '../manifests/cluster-from-manifests.ts'
import { readConfigurationFile } from '../manifests/configuration-file.ts'
import type { ManifestDocument } from '../manifests/manifest.ts'
import { readManifestsOf } from '../manifests/manifest-folders.ts'
import { isObject, kindOf } from '../manifests/manifest-value.ts'
import { setsAmong, storedSet } from '../manifests/set-manifest.ts'
import { printNote } from '../terminal/print.ts'
import { printObjects } from '../terminal/print-objects.ts'
import { countObjects, renderedObjectsLimit } from './render/object-count.ts'
import { claimTemplateHints } from './validate/claim-hints.ts'

/** The version of an operator without a release, which is the tag of the waiter image. */
const unreleasedVersion = 'v0.1.0-dev'

export async function render(options: {
  filename: string[]
  config?: string
  output: string
}): Promise<void> {
  const documents = await readManifestsOf(options.filename)
  const configuration = await readConfigurationFile(options.config)
  const ofKind = (kind: string) => documents.filter(document => kindOf(document) === kind)
  const image = process.env[operatorEnvironment.waiterImage] ?? 'grove-initc'
  const context: RenderContext = {
    backends: schedulerBackends([...enabledSchedulers(configuration)], defaultScheduler(configuration)),
    configuration,
    waiterImage: `${image}:${unreleasedVersion}`,
    topologyBindings: ofKind('ClusterTopologyBinding').map(document =>
      storedBinding(document, configuration),
    ),
    claimTemplates: ofKind('ResourceClaimTemplate').map(claimTemplate),
    podTemplateHashes: set =>
      Object.fromEntries(
        set.spec.template.cliques.map(clique => [clique.name, podTemplateHash(set.spec.template, clique)]),
      ),
  }
  const cluster = clusterOf(documents)
  let count = 0
  const sets = setsAmong(documents).map(document => {
    const set = storedSet(document, configuration, cluster) as unknown as StoredSet
    count += countObjects(set)
    requirePrintable(count, document)
    requireBackends(set, context, document)
    for (const hint of claimTemplateHints(set, context.claimTemplates))
      printNote(`hint: ${placeOf(document, hint.field)}: ${hint.field}: ${hint.text}`)
    return set
  })
  printObjects(
    [...sets.flatMap(set => renderSet(set, context)), ...renderTopologies(context)],
    options.output,
  )
}

function requirePrintable(count: number, document: ManifestDocument): void {
  if (count <= renderedObjectsLimit) return
  const [wanted, limit] = [count, renderedObjectsLimit].map(number => number.toLocaleString('en'))
  throw new CommandError(
    `${placeOf(document, 'spec.replicas')}: the set consists of ${wanted} objects and render prints at most ${limit}; lower the replicas of the set, its groups or its cliques`,
    1,
  )
}

function requireBackends(set: StoredSet, { backends }: RenderContext, document: ManifestDocument): void {
  set.spec.template.cliques.forEach(({ spec }, index) => {
    const name = spec.podSpec.schedulerName || backends.nameFor(set)
    if (backends.find(name)) return
    const field = `spec.template.cliques[${index}].spec.podSpec.schedulerName`
    throw new CommandError(
      `${placeOf(document, field)}: ${field}: the operator has no backend for scheduler "${name}"`,
      1,
    )
  })
}

function storedBinding(
  document: ManifestDocument,
  configuration: OperatorConfiguration,
): ClusterTopologyBinding {
  const response = admit(
    { operation: 'CREATE', kind: 'ClusterTopologyBinding', object: document.value },
    { configuration, cluster: clusterOf([]) },
  )
  if (!response.allowed) throw new CommandError(`${placeOf(document)}: ${response.message}`, 1)
  return response.object as ClusterTopologyBinding
}

function claimTemplate(document: ManifestDocument): ResourceClaimTemplate {
  const { metadata, spec } = document.value as Record<string, unknown>
  if (!isObject(metadata) || typeof metadata.name !== 'string')
    throw new CommandError(`${placeOf(document)}: the ResourceClaimTemplate has no metadata.name`, 1)
  if (!isObject(spec) || !isObject(spec.spec))
    throw new CommandError(`${placeOf(document)}: the ResourceClaimTemplate has no spec.spec`, 1)
  return document.value as ResourceClaimTemplate
}

function placeOf(document: ManifestDocument, field = ''): string {
  return `${document.source}:${document.locate(field)?.line ?? document.line}`
}
