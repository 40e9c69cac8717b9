// SPDX-License-Identifier: Apache-2.0

// Edits a set that other clients may edit at the same time.
import type { PodCliqueSet } from '@grove/api'
import { isConflict, type Stored } from '@grove/kube/client'
import { resources } from '@grove/operator/resources'
import type { LiveCluster } from '../clusters/live-cluster.ts'
import { noSuchSet } from '../clusters/set-objects.ts'

/** After a conflict the edit is computed again for the newer version of the set. */
const mostAttempts = 5

export async function retryConflicts<T>(edit: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await edit()
    } catch (error) {
      if (!isConflict(error) || attempt >= mostAttempts) throw error
    }
  }
}

export interface EditOptions {
  readonly dryRun: string
}

/** Sends a merge patch of the spec, which applies only to the version of the set from which it was computed. */
export function patchSpec(
  { client, namespace }: LiveCluster,
  { metadata }: Stored<PodCliqueSet>,
  spec: object,
  { dryRun }: EditOptions,
): Promise<Stored<PodCliqueSet>> {
  const { name, resourceVersion } = metadata
  return client.patch(
    resources.podCliqueSets,
    { name, namespace },
    { merge: { metadata: { resourceVersion }, spec } },
    { fieldManager: 'grove-cli', ...(dryRun === 'server' && { dryRun: true }) },
  )
}

export async function readForEdit(cluster: LiveCluster, name: string): Promise<Stored<PodCliqueSet>> {
  const { client, namespace } = cluster
  const set = await client.find(resources.podCliqueSets, { name, namespace })
  if (!set) throw await noSuchSet(cluster, name)
  return set
}
