// SPDX-License-Identifier: Apache-2.0

// Whose turn comes next in an update: as many replicas as the strategy lets go, those first that are missed
// least. Surge replicas have their places before anything goes that is missed, so that nothing waits for the place
// of another one; then a replica that serves goes when enough others do. What is not outdated has no turn with them:
// a change that comes meanwhile would find it in the middle of an update, and nobody standing in for it.
import type { PodCliqueSetUpdateStrategy } from '@grove/api'
import { range } from '../layout/layout.ts'
import type { ReplicaUpdateState } from './replica-update.ts'

export interface TurnsInput {
  readonly strategy: PodCliqueSetUpdateStrategy | undefined
  /** How many replicas are asked for; the states of those beyond are of surge replicas. */
  readonly replicas: number
  readonly states: readonly ReplicaUpdateState[]
  /** Replicas that are in the middle of it. */
  readonly begun: readonly number[]
  /** Surge replicas that there are. */
  readonly surge: number
}

export interface Turns {
  /** Replicas whose turn comes now, of those that are asked for. */
  readonly next: readonly number[]
  /** How many surge replicas there are to be. */
  readonly surge: number
  /** Surge replicas whose turn comes now: new ones, and those that serve nobody with a template of before. */
  readonly nextSurge: readonly number[]
  /** Whether some are not done and have no turn. */
  readonly isWaiting: boolean
}

export function planTurns(input: TurnsInput): Turns {
  const { strategy, replicas, states, begun } = input
  const { paused = false, partition = 0 } = strategy ?? {}
  const isSurging = (strategy?.maxSurge ?? 0) > 0
  const underWay = begun.filter(replica => replica < replicas).length
  const remaining = states
    .slice(0, replicas)
    .filter(({ replica, isDone }) => !isDone && replica >= partition && !begun.includes(replica))
  if (underWay + remaining.length === 0) return { next: [], surge: 0, nextSurge: [], isWaiting: false }
  if (paused) return { next: [], surge: input.surge, nextSurge: [], isWaiting: remaining.length > 0 }
  const candidates = isSurging ? remaining.filter(({ isOutdated }) => isOutdated()) : remaining
  const wanted = wantedSurge(input, candidates, underWay)
  const next = affordable(input, candidates, underWay, wanted)
  // Not while others wait for a place or are on their way back: their places are not for surge replicas.
  const mayGrow = underWay + next.length === 0 && remaining.every(({ isPlaced }) => isPlaced)
  const surge =
    next.length === candidates.length ? shrunk(input, [...begun, ...next]) : mayGrow ? wanted : input.surge
  const nextSurge = range(replicas, replicas + surge).filter(replica => {
    const state = states[replica]
    return !begun.includes(replica) && (!state || (!state.isUpToDate && !state.isServing))
  })
  return { next, surge, nextSurge, isWaiting: next.length < remaining.length }
}

/** One for each that is missed when it goes, beyond those that may be missing; what is there stays. */
function wantedSurge(
  { strategy, surge }: TurnsInput,
  outdated: readonly ReplicaUpdateState[],
  underWay: number,
): number {
  const { maxUnavailable = 1, maxSurge = 0 } = strategy ?? {}
  if (maxSurge <= 0) return surge
  return Math.max(
    surge,
    Math.min(maxSurge, outdated.filter(({ isServing }) => isServing).length + underWay - maxUnavailable),
  )
}

function affordable(
  { strategy, replicas, states, begun, surge }: TurnsInput,
  candidates: readonly ReplicaUpdateState[],
  underWay: number,
  wanted: number,
): number[] {
  const { maxUnavailable = 1, maxSurge = 0 } = strategy ?? {}
  const sorted = candidates.toSorted(leastLossFirst)
  const chosen = (list: readonly ReplicaUpdateState[]) => list.map(({ replica }) => replica)
  if (maxSurge <= 0) return chosen(sorted.slice(0, Math.max(0, Math.max(1, maxUnavailable) - underWay)))
  const serving = states.filter(({ replica, isServing }) => isServing && !begun.includes(replica)).length
  const isRoomy = surge === wanted && states.slice(replicas).every(({ isPlaced }) => isPlaced)
  let spare = isRoomy ? serving - (replicas - maxUnavailable) : 0
  let turns = maxUnavailable + maxSurge - underWay
  return chosen(
    sorted.filter(one => {
      if (turns <= 0 || (one.isServing && spare <= 0)) return false
      turns--
      if (one.isServing) spare--
      return true
    }),
  )
}

/**
 * Where nothing more is to be taken down, only what stands in for those that are not back is needed: the rest
 * makes room, which they may wait for.
 */
function shrunk({ strategy, replicas, states, surge }: TurnsInput, busy: readonly number[]): number {
  const isInUse = ({ replica, isServing }: ReplicaUpdateState) => isServing && !busy.includes(replica)
  const serving = states.slice(0, replicas).filter(isInUse).length
  const missing = replicas - (strategy?.maxUnavailable ?? 1) - serving
  const standIns = states
    .slice(replicas, replicas + surge)
    .filter(isInUse)
    .slice(0, Math.max(0, missing))
  return standIns.length ? standIns.at(-1)!.replica - replicas + 1 : 0
}

/** Replicas that serve nobody lose nothing; then those that do not serve well enough; then the lowest. */
function leastLossFirst(a: ReplicaUpdateState, b: ReplicaUpdateState): number {
  return (
    Number(a.scheduledPods > 0) - Number(b.scheduledPods > 0) ||
    Number(a.isAvailable) - Number(b.isAvailable) ||
    a.replica - b.replica
  )
}
