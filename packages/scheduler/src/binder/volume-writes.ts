// SPDX-License-Identifier: Apache-2.0

// Selects the node of volumes that wait for their first consumer. Kubernetes provisions them for this node, and a kubelet
// waits for them. Without the selection, a pod that is bound would wait forever.
import { type Client, type Clock, isConflict, isNotFound, type Logger } from '@grove/kube'
import { selectedNodeAnnotation } from '../snapshot/volumes.ts'
import type { PodBinding } from '../types.ts'
import { resources } from './resources.ts'

/** Reads of a claim that Kubernetes has not created yet, and the wait between two of them. */
const attempts = 5
const retryMs = 1_000

export interface VolumeWritesOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Selects the node for all volumes of a pod. Returns false if this is not possible. A selection stays if the pod is not bound
 * afterwards, as with kube-scheduler: the volume may exist already. The pod then gets no other node.
 */
export async function selectNode(
  { namespace, pod, node, volumeClaims = [] }: PodBinding,
  { client, clock, log }: VolumeWritesOptions,
  signal: AbortSignal,
): Promise<boolean> {
  for (const name of volumeClaims) {
    let isSelected: boolean | undefined
    for (let attempt = 1; isSelected === undefined && attempt <= attempts && !signal.aborted; attempt++)
      try {
        isSelected = await tryToSelect(name)
        if (isSelected === undefined && attempt < attempts) await clock.sleep(retryMs, signal)
      } catch (error) {
        if (signal.aborted) return false
        const fields = { claim: `${namespace}/${name}`, pod, node }
        if (!isConflict(error) && !isNotFound(error))
          log.warn('Could not select the node of a volume, trying again', { ...fields, error })
        await clock.sleep(retryMs, signal).catch(() => undefined)
      }
    if (!isSelected) return false
  }
  return true

  /** Undefined if the claim does not exist yet. */
  async function tryToSelect(name: string): Promise<boolean | undefined> {
    const claim = await client.find(resources.persistentVolumeClaims, { namespace, name }, { signal })
    if (!claim) return undefined
    if (claim.metadata.deletionTimestamp) return false
    const selected = claim.metadata.annotations?.[selectedNodeAnnotation]
    if (claim.spec?.volumeName || selected === node) return true
    if (selected) return false
    const { uid, resourceVersion } = claim.metadata
    const annotations = { [selectedNodeAnnotation]: node }
    await client.patch(
      resources.persistentVolumeClaims,
      { namespace, name },
      { merge: { metadata: { uid, resourceVersion, annotations } } },
      { signal },
    )
    return true
  }
}
