// SPDX-License-Identifier: Apache-2.0

import { label, type Pod, type PodGang } from '@grove/api'

interface About {
  /** Namespace and name. */
  readonly gang: string
  /** The scheduler that the PodGang names. */
  readonly scheduler: string
  /** In milliseconds since 1970. */
  readonly at: number
}

/** One report for each change. `nodes` has one entry for each pod of the minimum, sorted. */
export type ShadowReport = About &
  (
    | { readonly kind: 'wouldSchedule'; readonly nodes: readonly string[]; readonly score?: number }
    | { readonly kind: 'wouldWait'; readonly code: string; readonly message: string }
    | {
        readonly kind: 'scheduledByOther'
        readonly nodes: readonly string[]
        /** Time between the decision of this scheduler and the last binding; absent if it would still wait. */
        readonly afterMs?: number
        readonly sameNodes?: boolean
      }
  )

/** Log messages by kind of report. */
export const shadowReports: Readonly<Record<ShadowReport['kind'], string>> = {
  wouldSchedule: 'dry run: the gang would be scheduled now',
  wouldWait: 'dry run: the gang would wait',
  scheduledByOther: 'dry run: the gang was scheduled',
}

/** Nodes of the bound pods, sorted; undefined while a group has less than its minimum bound. */
export function boundNodes({ metadata, spec }: PodGang, pods: readonly Pod[]): string[] | undefined {
  const { namespace = 'default', name } = metadata
  const own = pods.filter(
    pod =>
      (pod.metadata.namespace ?? 'default') === namespace &&
      pod.metadata.labels?.[label.podGang] === name &&
      pod.spec.nodeName &&
      !pod.metadata.deletionTimestamp,
  )
  const isBound = spec.podgroups.every(
    group =>
      own.filter(pod => pod.metadata.labels?.[label.podClique] === group.name).length >= group.minReplicas,
  )
  return isBound && own.length > 0 ? own.map(pod => pod.spec.nodeName ?? '').sort() : undefined
}
