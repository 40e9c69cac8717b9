// SPDX-License-Identifier: Apache-2.0

// The JSON of the API, which the page in the browser reads. docs/operations/dashboard.md lists the paths.
import type { Cause, NodeDocument } from '@grove/inspect'

export type SetState = 'Available' | 'Updating' | 'Progressing' | 'Stalled' | 'Terminating'

export interface OverviewDocument {
  readonly totals: {
    readonly sets: number
    readonly availableSets: number
    readonly pods: number
    readonly readyPods: number
    readonly gangs: number
    readonly pendingGangs: number
  }
  /** Gangs that wait for their own reason come first, the longest wait first. */
  readonly pendingGangs: readonly PendingGang[]
  readonly hiddenGangs: number
  /** Sets that are not available come first. */
  readonly sets: readonly SetSummary[]
  readonly hiddenSets: number
  /** Warnings only. */
  readonly events: readonly EventRow[]
  readonly notes: Notes
}

/** Facts about the data itself. */
export interface Notes {
  /** The only namespace that is shown. */
  readonly namespace?: string
  /** The cluster has not responded for minutes. */
  readonly isStale: boolean
  /** Kinds that the dashboard cannot read, with the error. */
  readonly problems: readonly { readonly resource: string; readonly message: string }[]
}

export interface PendingGang extends GangRow {
  readonly namespace: string
  readonly set: string
}

export interface SetSummary {
  readonly namespace: string
  readonly name: string
  readonly state: SetState
  readonly replicas: number
  readonly availableReplicas: number
  readonly updatedReplicas: number
  readonly pods: number
  readonly readyPods: number
  readonly gangs: number
  readonly pendingGangs: number
  readonly createdAt?: string
  /** The first cause, if the set is not available. */
  readonly cause?: { readonly reason: string; readonly message: string }
}

export interface SetDocument {
  readonly summary: SetSummary
  readonly revision?: string
  readonly causes: readonly (Omit<Cause, 'objects'> & { readonly objects: string })[]
  readonly tree: NodeDocument
  /** By the name of their PodClique; pods that are not ready come first. */
  readonly pods: Readonly<Record<string, { readonly rows: readonly PodRow[]; readonly hidden: number }>>
  /** Pending gangs come first. */
  readonly gangs: readonly GangRow[]
  readonly hiddenGangs: number
  readonly events: readonly EventRow[]
  readonly notes: Notes
}

export interface PodRow {
  readonly name: string
  /** `Ready`, or one word for the reason why it is not. */
  readonly state: string
  readonly message?: string
  readonly node?: string
  readonly restarts: number
  readonly createdAt?: string
}

export interface GangRow {
  readonly name: string
  readonly phase: string
  readonly pods: number
  readonly scheduledPods: number
  readonly placementScore?: number
  readonly cause?: { readonly reason: string; readonly message: string; readonly since?: string }
}

export interface EventRow {
  readonly time?: string
  readonly type: string
  readonly reason: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly message: string
  readonly count: number
}

export interface NodesDocument {
  /** Names of the device resources of the cluster. */
  readonly devices: readonly string[]
  /** Names of the levels, the broadest first. */
  readonly levels: readonly string[]
  readonly root: DomainDocument
  /** Nodes beyond the limit of one document. */
  readonly hiddenNodes: number
  readonly notes: Notes
}

export type DeviceUse = Readonly<Record<string, { readonly allocatable: number; readonly used: number }>>

export interface DomainDocument {
  /** Name of its level, empty for the whole cluster. */
  readonly level: string
  readonly name: string
  readonly nodes: number
  readonly readyNodes: number
  readonly devices: DeviceUse
  readonly children: readonly DomainDocument[]
  /** Only in the narrowest domains. */
  readonly rows: readonly NodeRow[]
}

export interface NodeRow {
  readonly name: string
  readonly isReady: boolean
  readonly isCordoned: boolean
  readonly devices: DeviceUse
  /** Pods of PodCliqueSets on this node. */
  readonly pods: number
}
