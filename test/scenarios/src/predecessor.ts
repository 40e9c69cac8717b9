// SPDX-License-Identifier: Apache-2.0

// Makes a set of ours look as if another operator had run it: the same objects under other hashes, with the finalizers
// that the other one puts on them, and without what only we remember. Our operator must be stopped meanwhile.
import {
  conditionType,
  finalizer,
  generationHash,
  label,
  legacyGenerationHash,
  legacyPodTemplateHash,
  type PodCliqueSetSpec,
  podTemplateHash,
} from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from './stage.ts'

/** How the other operator called a revision: from its own hash to what stood in the objects. */
export type Naming = (spec: PodCliqueSetSpec, clique?: string) => string

export const namings: Readonly<Record<string, Naming>> = {
  'the older operator': legacyHash,
  // What a build with another Kubernetes library would have stored: same form, no way to compute it.
  'another build of the older operator': (spec, clique) => [...legacyHash(spec, clique)].reverse().join(''),
  'an earlier version of this operator': (spec, clique) => ownHash(spec, clique).replace(/^z\d+-/, 'z0-'),
}

export async function leaveAs(
  stage: Stage,
  name: string,
  naming: Naming,
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
      const ref = { name: metadata.name, namespace: stage.namespace }
      const labels = metadata.labels && rename(metadata.labels)
      await stage.client.patch(resource, ref, {
        merge: { metadata: { labels, ...(mark && { finalizers: [mark] }) } },
      })
      if (!status) continue
      const conditions = status.conditions?.filter(({ type }) => !remembered.has(type))
      await stage.client.patch(
        resource,
        ref,
        { merge: { status: { ...rename(status), ...(conditions && { conditions }) } } },
        { subresource: 'status' },
      )
    }
  }
  const set = await stage.set(name)
  await leave(resources.podCliqueSets, [set!])
  await leave(resources.podCliqueScalingGroups, await stage.groups(name), finalizer.foreignScalingGroup)
  await leave(resources.podCliques, await stage.cliques(name), finalizer.foreignPodClique)
  for (const { metadata } of await stage.pods(name)) {
    const ref = { name: metadata.name, namespace: stage.namespace }
    await stage.client.patch(resources.pods, ref, {
      merge: { metadata: { labels: rename(metadata.labels) } },
    })
  }
}

type WithStatus = KubeObject & { status?: { conditions?: { type: string }[] } }

const remembered: ReadonlySet<string> = new Set([conditionType.everScheduled, conditionType.everHealthy])

/** Whether everything of a set carries names of ours again. */
export async function foreignNames(stage: Stage, name: string): Promise<string[]> {
  const pods = await stage.pods(name)
  const cliques = await stage.cliques(name)
  const groups = await stage.groups(name)
  const set = await stage.set(name)
  return [
    ...[...pods, ...cliques].map(({ metadata }) => metadata.labels?.[label.podTemplateHash]),
    ...cliques.flatMap(({ status }) => [
      status?.currentPodTemplateHash,
      status?.currentPodCliqueSetGenerationHash,
    ]),
    ...groups.map(({ status }) => status?.currentPodCliqueSetGenerationHash),
    set?.status?.currentGenerationHash,
  ]
    .map(hash => hash ?? '(none)')
    .filter(hash => !hash.startsWith('z1-'))
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
