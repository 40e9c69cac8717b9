// SPDX-License-Identifier: Apache-2.0

import { range } from '../layout/layout.ts'
import { rollingProgress } from './progress.ts'
import type { ReplicaUpdateState } from './replica-state.ts'
import { leastLossFirst } from './rolling.ts'
import type { ReplicaCandidates, UpdateStrategy } from './strategy.ts'

/**
 * Creates up to maxSurge additional replicas before serving replicas are updated. Surge replicas get nodes first, so no
 * replica waits for the node of another one. A serving replica is selected while at least replicas - maxUnavailable
 * others serve. Only outdated replicas are selected. Otherwise a later change of the template would disrupt a replica
 * that is up to date, without a surge replica that replaces it.
 */
export const surge: UpdateStrategy = {
  type: 'Surge',
  replacesPods: true,
  progress: rollingProgress,
  select(candidates) {
    const { remaining, states, replicas, begun, underWay } = candidates
    const outdated = remaining.filter(state => state.isOutdated())
    const wanted = wantedSurge(candidates, outdated)
    const next = affordable(candidates, outdated, wanted)
    const count =
      next.length === outdated.length
        ? stillNeeded(candidates, new Set([...begun, ...next]))
        : grownSurge(candidates, wanted, underWay + next.length)
    const nextSurge = range(replicas, replicas + count).filter(replica => {
      const state = states[replica]
      return !begun.has(replica) && (!state || (!state.isUpToDate && !state.isServing))
    })
    return { next, surge: count, nextSurge }
  },
}

/** One surge replica for each serving replica that is updated at the same time, beyond maxUnavailable. */
function wantedSurge(
  { maxUnavailable, maxSurge, surge: existing, underWay }: ReplicaCandidates,
  outdated: readonly ReplicaUpdateState[],
): number {
  const serving = outdated.filter(({ isServing }) => isServing).length
  return Math.max(existing, Math.min(maxSurge, serving + underWay - maxUnavailable))
}

/** Nodes that become free are for replicas that wait for one or are being recreated, not for surge replicas. */
function grownSurge(
  { remaining, surge: existing }: ReplicaCandidates,
  wanted: number,
  updating: number,
): number {
  const mayGrow = updating === 0 && remaining.every(({ isScheduled }) => isScheduled)
  return mayGrow ? wanted : existing
}

function affordable(
  { maxUnavailable, maxSurge, replicas, states, begun, surge: existing, underWay }: ReplicaCandidates,
  outdated: readonly ReplicaUpdateState[],
  wanted: number,
): number[] {
  const serving = states.filter(({ replica, isServing }) => isServing && !begun.has(replica)).length
  const hasSurge = existing === wanted && states.slice(replicas).every(({ isScheduled }) => isScheduled)
  let spare = hasSurge ? serving - (replicas - maxUnavailable) : 0
  let free = maxUnavailable + maxSurge - underWay
  return outdated
    .toSorted(leastLossFirst)
    .filter(({ isServing }) => {
      if (free <= 0 || (isServing && spare <= 0)) return false
      free--
      if (isServing) spare--
      return true
    })
    .map(({ replica }) => replica)
}

/** The surge replicas that replace replicas which do not serve yet. The others are deleted to free their nodes. */
function stillNeeded(
  { maxUnavailable, replicas, states, surge: existing }: ReplicaCandidates,
  busy: ReadonlySet<number>,
): number {
  const isInUse = ({ replica, isServing }: ReplicaUpdateState) => isServing && !busy.has(replica)
  const missing = replicas - maxUnavailable - states.slice(0, replicas).filter(isInUse).length
  const standIns = states
    .slice(replicas, replicas + existing)
    .filter(isInUse)
    .slice(0, Math.max(0, missing))
  return standIns.length ? standIns.at(-1)!.replica - replicas + 1 : 0
}
