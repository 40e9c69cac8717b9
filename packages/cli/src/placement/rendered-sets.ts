// SPDX-License-Identifier: Apache-2.0

// The PodGangs and pods that the operator would create for sets which are not applied yet.
import {
  admit,
  type ClusterTopologyBinding,
  conditionType,
  defaultScheduler,
  enabledSchedulers,
  label,
  type OperatorConfiguration,
  type Pod,
  type PodGang,
  podTemplateHash,
  type ResourceClaim,
  type ResourceClaimTemplate,
} from '@grove/api'
import { type RenderContext, render, type StoredSet, schedulerBackends } from '@grove/operator'
import { defaultSchedulerName, type SnapshotObjects } from '@grove/scheduler'
import { CommandError } from '../command-error.ts'
import { countObjects, renderedObjectsLimit } from '../commands/render/object-count.ts'
import { ClusterFromManifests } from '../manifests/cluster-from-manifests.ts'
import type { ManifestDocument } from '../manifests/manifest.ts'
import { isObject, kindOf } from '../manifests/manifest-value.ts'
import { setsAmong, storedSet } from '../manifests/set-manifest.ts'
import { printNote } from '../terminal/print.ts'
import { withGeneratedClaims } from './generated-claims.ts'

export interface RenderedSet {
  readonly namespace: string
  readonly name: string
  /** Base gangs first. */
  readonly podGangs: readonly PodGang[]
  /** Named by hostname, without gates. */
  readonly pods: readonly Pod[]
  /** Shared claims, and those that Kubernetes would generate from templates. */
  readonly resourceClaims: readonly ResourceClaim[]
}

export interface SetInput {
  readonly documents: readonly ManifestDocument[]
  readonly configuration: OperatorConfiguration
  /** Objects of the cluster and of the documents. */
  readonly objects: SnapshotObjects
  /** Namespace of sets that name none. */
  readonly namespace: string
}

/** Admits and renders the sets as the operator would. Throws an error with the position if admission rejects one. */
export function renderSets({ documents, configuration, objects, namespace }: SetInput): RenderedSet[] {
  const bindings = new Map<string, ClusterTopologyBinding>(
    (objects.topologyBindings ?? []).map(binding => [binding.metadata.name, binding]),
  )
  for (const document of documents)
    if (kindOf(document) === 'ClusterTopologyBinding') {
      const binding = admittedBinding(document, configuration)
      bindings.set(binding.metadata.name, binding)
    }
  const cluster = new ClusterFromManifests()
  for (const { value } of documents) cluster.add(value)
  for (const binding of bindings.values()) cluster.add({ ...binding, kind: 'ClusterTopologyBinding' })
  const context: RenderContext = {
    backends: schedulerBackends([...enabledSchedulers(configuration)], defaultScheduler(configuration)),
    configuration,
    // The image of the waiter does not change the requests of a pod.
    waiterImage: 'grove-initc',
    topologyBindings: [...bindings.values()],
    claimTemplates: (objects.resourceClaimTemplates ?? []) as readonly ResourceClaimTemplate[],
    podTemplateHashes: set =>
      Object.fromEntries(
        set.spec.template.cliques.map(clique => [clique.name, podTemplateHash(set.spec.template, clique)]),
      ),
  }
  let count = 0
  const names = new Set<string>()
  return setsAmong(documents).map(document => {
    const set = storedSet(inNamespace(document, namespace), configuration, cluster) as unknown as StoredSet
    const name = `${set.metadata.namespace}/${set.metadata.name}`
    if (names.has(name))
      throw new CommandError(
        `${document.source}:${document.line}: PodCliqueSet ${name} is there twice; remove one`,
      )
    names.add(name)
    count += countObjects(set)
    if (count > renderedObjectsLimit)
      throw new CommandError(
        `${document.source}:${document.line}: the sets consist of more than ${renderedObjectsLimit.toLocaleString('en')} objects; lower their replicas`,
      )
    return renderedSet(set, context, document)
  })
}

function renderedSet(set: StoredSet, context: RenderContext, document: ManifestDocument): RenderedSet {
  let made: ReturnType<typeof render>
  try {
    made = render(set, context)
  } catch (error) {
    throw new CommandError(
      `${document.source}:${document.line}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  const objects = made as unknown as readonly (Pod | PodGang | ResourceClaim)[]
  const { namespace, name } = set.metadata
  const pods = objects.filter((object): object is Pod => object.kind === 'Pod')
  const others = new Set(pods.map(({ spec }) => spec.schedulerName ?? ''))
  others.delete(defaultSchedulerName)
  if (others.size > 0)
    printNote(
      `PodCliqueSet ${namespace}/${name} uses ${[...others].sort().join(', ')}; the output shows where ${defaultSchedulerName} would place its pods`,
    )
  return {
    namespace,
    name,
    podGangs: objects
      .filter((object): object is PodGang => object.kind === 'PodGang')
      .map(gang => ({ ...gang, status: initialized })),
    ...withGeneratedClaims(
      pods.map(pod => ({ ...pod, spec: { ...pod.spec, schedulerName: defaultSchedulerName } })),
      objects.filter((object): object is ResourceClaim => object.kind === 'ResourceClaim'),
      context.claimTemplates,
    ),
  }
}

const initialized: NonNullable<PodGang['status']> = {
  phase: 'Pending',
  conditions: [
    {
      type: conditionType.podGangInitialized,
      status: 'True',
      reason: 'PodsCreated',
      message: '',
      lastTransitionTime: '1970-01-01T00:00:00Z',
    },
  ],
}

/** The base gang that the pod waits for; undefined for a pod of a base gang. */
export function baseGangOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.[label.basePodGang]
}

function inNamespace(document: ManifestDocument, namespace: string): ManifestDocument {
  const { value } = document
  if (!isObject(value) || !isObject(value.metadata) || value.metadata.namespace) return document
  return {
    ...document,
    get line() {
      return document.line
    },
    value: { ...value, metadata: { ...value.metadata, namespace } },
  }
}

function admittedBinding(
  document: ManifestDocument,
  configuration: OperatorConfiguration,
): ClusterTopologyBinding {
  const response = admit(
    { operation: 'CREATE', kind: 'ClusterTopologyBinding', object: document.value },
    { configuration, cluster: new ClusterFromManifests() },
  )
  if (!response.allowed) throw new CommandError(`${document.source}:${document.line}: ${response.message}`)
  return response.object as ClusterTopologyBinding
}
