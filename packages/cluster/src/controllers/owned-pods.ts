// SPDX-License-Identifier: Apache-2.0

import { isNotFound, type Resource, type Source, type Stored } from '@grove/kube'
import type { PodTemplateSpec } from '../schema/types.generated.ts'
import { changesOf } from './changes.ts'
import { type Pod, pods } from './kinds.ts'
import type { Runtime } from './runtime.ts'

/** Enqueues the owner of a changed pod, if it has this kind. */
export function ownerChangesOf({ caches }: Runtime, kind: string): Source<string> {
  return changesOf(caches.pods, ({ old, new: pod }) => {
    const had = (pod ?? old)!
    const owner = had.metadata.ownerReferences?.find(({ controller }) => controller)
    return owner?.kind === kind ? [`${had.metadata.namespace}/${owner.name}`] : []
  })
}

/** Creates a pod from a template, with an owner reference. */
export function podFrom(
  resource: Resource,
  owner: Stored,
  template: PodTemplateSpec | undefined,
  more: {
    readonly name?: string
    readonly generateName?: string
    readonly labels?: Readonly<Record<string, string>>
  },
): Pod {
  const { namespace, name, uid } = owner.metadata
  const apiVersion = `${resource.group}/${resource.version}`
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(more.name ? { name: more.name } : { generateName: more.generateName ?? `${name}-` }),
      namespace,
      labels: { ...template?.metadata?.labels, ...more.labels },
      annotations: template?.metadata?.annotations,
      ownerReferences: [
        { apiVersion, kind: resource.kind, name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: { ...template?.spec },
  }
}

/** Deletes exactly this pod. Ignores a pod that is already gone or replaced. */
export async function deletePod({ client }: Runtime, { metadata }: Stored<Pod>): Promise<void> {
  try {
    await client.delete(pods, metadata, { preconditions: { uid: metadata.uid } })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
