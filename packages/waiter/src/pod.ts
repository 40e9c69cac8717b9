// SPDX-License-Identifier: Apache-2.0

/** Names the PodClique of a pod. The pod name is ambiguous: `w-0-a-b-xyz` does not belong to the clique `w-0-a`. */
export const podCliqueLabel = 'grove.io/podclique'

/** The fields of a pod that matter here. */
export interface Pod {
  readonly metadata?: {
    readonly name?: string
    readonly resourceVersion?: string
    readonly deletionTimestamp?: string | null
    readonly labels?: Readonly<Record<string, string>> | null
  }
  readonly status?: {
    readonly conditions?: readonly { readonly type?: string; readonly status?: string }[] | null
  }
}

/** The part of a pod that is kept, so that memory does not grow with the size of pods. */
export interface SeenPod {
  readonly name: string
  readonly clique: string | undefined
  readonly ready: boolean
}

/** A terminating pod is not ready, regardless of its condition. */
export function seenPod({ metadata, status }: Pod): SeenPod {
  return {
    name: metadata?.name ?? '',
    clique: metadata?.labels?.[podCliqueLabel],
    ready:
      !metadata?.deletionTimestamp &&
      (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
  }
}
