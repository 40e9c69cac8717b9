// SPDX-License-Identifier: Apache-2.0

import type { StoredClique, StoredPod, StoredSet } from '../layout/stored.ts'

export interface TerminatedReplica {
  readonly set: StoredSet
  /** The scaling group, if only a replica of it was terminated. */
  readonly scalingGroup?: string
  readonly replica: number
  /** The reason of the condition that was breached. */
  readonly reason: string
  readonly because: string
}

/** Receives decisions after they were carried out, for the log and for metrics. */
export interface DecisionSink {
  replicaTerminated(terminated: TerminatedReplica): void
  podsReplaced(clique: StoredClique, pods: readonly StoredPod[], reason: 'outdated' | 'finished'): void
}
