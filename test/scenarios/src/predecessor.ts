// SPDX-License-Identifier: Apache-2.0

// Changes the objects of a set to the form in which another operator leaves them: other hashes, other finalizers, and
// no records and conditions of this operator. The operator must be stopped meanwhile.
import {
  conditionType,
  finalizer,
  formerGenerationHash,
  generationAlgorithm,
  generationHash,
  hashAlgorithmOf,
  label,
  legacyGenerationHash,
  legacyPodTemplateHash,
  type PodCliqueSetSpec,
  podTemplateAlgorithm,
  podTemplateHash,
} from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from './harness.ts'

export interface Predecessor {
  /** Returns the hash that the operator stored for a set or for one of its cliques. */
  readonly naming: (spec: PodCliqueSetSpec, clique?: string) => string
  /**
   * True for another operator, which sets its own finalizers and none of the records and conditions of this operator.
   */
  readonly isForeign: boolean
}

export const previousRelease: Predecessor = {
  // This generation hash did not include the startup type. The pod template hash is still the same.
  naming: (spec, clique) => (clique === undefined ? formerGenerationHash(spec) : ownHash(spec, clique)),
  isForeign: false,
}

export const predecessors: Readonly<Record<string, Predecessor>> = {
  'the older operator': { naming: legacyHash, isForeign: true },
  // A hash of a build with another Kubernetes library: it has the same format, but this operator cannot recompute it.
  'another build of the older operator': {
    naming: (spec, clique) => [...legacyHash(spec, clique)].reverse().join(''),
    isForeign: true,
  },
  'an earlier version of this operator': {
    naming: (spec, clique) => ownHash(spec, clique).replace(/^z\d+-/, 'z0-'),
    isForeign: true,
  },
  'the previous release': previousRelease,
}

export async function leaveAs(
  harness: Harness,
  name: string,
  { naming, isForeign }: Predecessor,
  specs: readonly PodCliqueSetSpec[],
): Promise<void> {
  const renamed = new Map<string, string>()
  for (const spec of specs) {
    renamed.set(ownHash(spec), naming(spec))
    for (const clique of spec.template.cliques)
      renamed.set(ownHash(spec, clique.name), naming(spec, clique.name))
  }
  const rename = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (_key, text) => renamed.get(text) ?? text) as T
  const leave = async <T extends WithStatus>(resource: Resource<T>, objects: Stored<T>[], mark?: string) => {
    for (const { metadata, status } of objects) {
      const ref = { name: metadata.name, namespace: harness.namespace }
      const labels = metadata.labels && rename(metadata.labels)
      await harness.client.patch(resource, ref, {
        merge: { metadata: { labels, ...(isForeign && mark && { finalizers: [mark] }) } },
      })
      if (!status) continue
      const conditions = status.conditions?.filter(({ type }) => !isForeign || !remembered.has(type))
      await harness.client.patch(
        resource,
        ref,
        { merge: { status: { ...rename(status), ...(conditions && { conditions }) } } },
        { subresource: 'status' },
      )
    }
  }
  const set = await harness.set(name)
  await leave(resources.podCliqueSets, [set!])
  await leave(resources.podCliqueScalingGroups, await harness.groups(name), finalizer.foreignScalingGroup)
  await leave(resources.podCliques, await harness.cliques(name), finalizer.foreignPodClique)
  for (const { metadata } of await harness.pods(name)) {
    const ref = { name: metadata.name, namespace: harness.namespace }
    await harness.client.patch(resources.pods, ref, {
      merge: { metadata: { labels: rename(metadata.labels) } },
    })
  }
  if (!isForeign) await recordAs(harness, name, rename)
}

/** Names of objects are immutable, so each record is recreated with the name that the former release gave it. */
async function recordAs(harness: Harness, set: string, rename: <T>(value: T) => T): Promise<void> {
  const { namespace } = harness
  for (const record of await harness.list(resources.controllerRevisions, set)) {
    const { name, labels, annotations, ownerReferences } = record.metadata
    const hash = labels?.[label.generationHash] ?? ''
    await harness.client.delete(resources.controllerRevisions, { name, namespace })
    await harness.client.create(resources.controllerRevisions, {
      ...record,
      metadata: {
        name: name.replace(hash, rename(hash)),
        namespace,
        labels: rename(labels!),
        ...(annotations && { annotations }),
        ...(ownerReferences && { ownerReferences }),
      },
    })
  }
}

type WithStatus = KubeObject & { status?: { conditions?: { type: string }[] } }

const remembered: ReadonlySet<string> = new Set([conditionType.everScheduled, conditionType.everHealthy])

/** Returns the hashes in the objects of a set that are not of the current algorithms. */
export async function foreignNames(harness: Harness, name: string): Promise<string[]> {
  const pods = await harness.pods(name)
  const cliques = await harness.cliques(name)
  const groups = await harness.groups(name)
  const set = await harness.set(name)
  const templates = [
    ...[...pods, ...cliques].map(({ metadata }) => metadata.labels?.[label.podTemplateHash]),
    ...cliques.map(({ status }) => status?.currentPodTemplateHash),
  ]
  const generations = [
    ...[...cliques, ...groups].map(({ status }) => status?.currentPodCliqueSetGenerationHash),
    set?.status?.currentGenerationHash,
  ]
  const others = (hashes: readonly (string | undefined)[], algorithm: string) =>
    hashes.map(hash => hash ?? '(none)').filter(hash => hashAlgorithmOf(hash) !== algorithm)
  return [...others(templates, podTemplateAlgorithm), ...others(generations, generationAlgorithm)]
}

function ownHash(spec: PodCliqueSetSpec, clique?: string): string {
  return clique === undefined
    ? generationHash(spec)
    : podTemplateHash(spec.template, templateOf(spec, clique))
}

function legacyHash(spec: PodCliqueSetSpec, clique?: string): string {
  return clique === undefined
    ? legacyGenerationHash(spec)
    : legacyPodTemplateHash(spec.template, templateOf(spec, clique))
}

function templateOf(spec: PodCliqueSetSpec, clique: string) {
  return spec.template.cliques.find(({ name }) => name === clique)!
}
