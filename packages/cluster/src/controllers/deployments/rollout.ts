// SPDX-License-Identifier: Apache-2.0

// Computes the next size of each ReplicaSet of a Deployment. Pure.

import type { Deployment } from '../kinds.ts'

/** The state of a ReplicaSet that a rollout needs. */
export interface SetState {
  readonly name: string
  readonly created: string
  readonly replicas: number
  readonly actual: number
  readonly available: number
}

export interface Bounds {
  readonly surge: number
  readonly unavailable: number
}

/** Resolves percentages: maxSurge is rounded up, maxUnavailable down. One of them must allow progress. */
export function boundsOf({ spec }: Pick<Deployment, 'spec'>): Bounds {
  const replicas = spec?.replicas ?? 1
  if (spec?.strategy?.type === 'Recreate') return { surge: 0, unavailable: 0 }
  const { maxSurge = '25%', maxUnavailable = '25%' } = spec?.strategy?.rollingUpdate ?? {}
  const surge = absolute(maxSurge, replicas, Math.ceil)
  const unavailable = Math.min(absolute(maxUnavailable, replicas, Math.floor), replicas)
  return { surge, unavailable: surge === 0 && unavailable === 0 ? 1 : unavailable }
}

export function absolute(value: number | string, of: number, round: (n: number) => number): number {
  if (typeof value === 'number') return value
  return value.endsWith('%') ? round((Number(value.slice(0, -1)) * of) / 100) : Number(value)
}

/** Returns the ReplicaSets to resize. Scaling up comes before scaling down. */
export function planRollout(
  deployment: Pick<Deployment, 'spec'>,
  current: SetState,
  older: readonly SetState[],
): Map<string, number> {
  const replicas = deployment.spec?.replicas ?? 1
  if (deployment.spec?.strategy?.type === 'Recreate') return planRecreate(replicas, current, older)
  const { surge, unavailable } = boundsOf(deployment)
  const sizes = new Map<string, number>()
  const total = current.replicas + sum(older, ({ replicas }) => replicas)
  if (current.replicas > replicas) sizes.set(current.name, replicas)
  else if (current.replicas < replicas) {
    const room = replicas + surge - total
    const grown = current.replicas + Math.max(0, Math.min(room, replicas - current.replicas))
    if (grown !== current.replicas) sizes.set(current.name, grown)
  }
  if (sizes.size === 0) shrinkOlder(replicas - unavailable, current, older, sizes)
  return sizes
}

function shrinkOlder(
  minAvailable: number,
  current: SetState,
  older: readonly SetState[],
  sizes: Map<string, number>,
): void {
  const total = current.replicas + sum(older, ({ replicas }) => replicas)
  const newUnavailable = current.replicas - current.available
  let room = total - minAvailable - newUnavailable
  if (room <= 0) return
  const byAge = [...older].sort((a, b) => (a.created < b.created ? -1 : 1))
  const left = new Map(byAge.map(({ name, replicas }) => [name, replicas]))
  // Unavailable old pods are deleted first, because they do not count towards the minimum.
  for (const { name, replicas, available } of byAge) {
    const broken = Math.min(room, Math.max(0, replicas - available))
    left.set(name, replicas - broken)
    room -= broken
  }
  let spare = current.available + sum(byAge, ({ available }) => available) - minAvailable
  for (const { name } of byAge) {
    const size = left.get(name)!
    const less = Math.max(0, Math.min(size, spare))
    left.set(name, size - less)
    spare -= less
  }
  for (const { name, replicas } of byAge) if (left.get(name) !== replicas) sizes.set(name, left.get(name)!)
}

/** Deletes all old pods before the first new one is created. */
function planRecreate(replicas: number, current: SetState, older: readonly SetState[]): Map<string, number> {
  const running = older.filter(set => set.replicas > 0)
  if (running.length > 0) return new Map(running.map(({ name }) => [name, 0]))
  if (older.some(({ actual }) => actual > 0) || current.replicas === replicas) return new Map()
  return new Map([[current.name, replicas]])
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0)
}
