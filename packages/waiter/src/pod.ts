// SPDX-License-Identifier: Apache-2.0

/** Which PodClique a pod belongs to. The name of a pod says nothing: `w-0-a-b-xyz` is not of the clique `w-0-a`. */
export const podCliqueLabel = 'grove.io/podclique'

/** As the API server sends it, or rather the few fields that matter here. */
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

/** What is remembered of a pod, so that memory does not grow with the size of pods. */
export interface SeenPod {
  readonly name: string
  readonly clique: string | undefined
  readonly ready: boolean
}

/** A pod that is being deleted does not count as ready, whatever its condition still says. */
export function seenPod({ metadata, status }: Pod): SeenPod {
  return {
    name: metadata?.name ?? '',
    clique: metadata?.labels?.[podCliqueLabel],
    ready:
      !metadata?.deletionTimestamp &&
      (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True'),
  }
}
