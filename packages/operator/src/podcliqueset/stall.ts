// SPDX-License-Identifier: Apache-2.0

// The condition Stalled of a set: the cause that blocks the set, if it lasts. Pure. The delay is computed from times in
// stored objects, so a restarted operator neither repeats nor loses a report.
import {
  type Condition,
  type ConditionValue,
  conditionType,
  type EventValue,
  events,
  type LastError,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodGang,
  setErrorCode,
  stalled,
  unschedulableCondition,
} from '@grove/api'
import { scalingGroups, standaloneCliques } from '../layout/layout.ts'
import { keyOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import { findCondition } from '../state/conditions.ts'
import { stalledAfterMs } from '../timings/timings.ts'
import type { ReplicaChildren } from '../update/replica-state.ts'

/** A cause that prevents a part of a set from becoming ready. */
export interface Obstacle {
  readonly value: ConditionValue
  /** Milliseconds since the epoch. */
  readonly since: number
}

/**
 * The obstacles of the cliques and groups of a replica: failed reconciles first, then failing pods. Members of groups are
 * read only while a replica of their group is not available.
 */
export function replicaObstacles(
  set: StoredSet,
  replica: number,
  { cliqueNamed, groupNamed, membersOf }: Pick<ReplicaChildren, 'cliqueNamed' | 'groupNamed' | 'membersOf'>,
): Obstacle[] {
  const groups = scalingGroups(set, replica).flatMap(({ name }) => groupNamed(name) ?? [])
  const cliques = [
    ...standaloneCliques(set, replica).flatMap(({ name }) => cliqueNamed(name) ?? []),
    ...groups.filter(lacksReplicas).flatMap(membersOf),
  ]
  return [
    ...groups.flatMap(group => failedReconcile('PodCliqueScalingGroup', group)),
    ...cliques.flatMap(clique => failedReconcile('PodClique', clique)),
    ...cliques.flatMap(failingPods),
  ]
}

function lacksReplicas({ spec, status }: PodCliqueScalingGroup): boolean {
  return (status?.availableReplicas ?? 0) < spec.replicas
}

function failedReconcile(
  kind: 'PodClique' | 'PodCliqueScalingGroup',
  object: PodClique | PodCliqueScalingGroup,
): Obstacle[] {
  const [first] = object.status?.lastErrors ?? []
  return first
    ? [{ value: ofError(`${kind} ${keyOf(object)}: `, first), since: sinceOf(first.observedAt) }]
    : []
}

function ofError(of: string, { code, description }: LastError): ConditionValue {
  const message = `${of}${description}`
  return code === setErrorCode.limitExceeded ? stalled.limitExceeded(message) : stalled.failed(message)
}

function failingPods(clique: PodClique): Obstacle[] {
  const failing = findCondition(clique.status?.conditions, conditionType.podsFailing)
  if (failing?.status !== 'True') return []
  const id = keyOf(clique)
  return [{ value: stalled.podsFailing(id, failing.message), since: sinceOf(failing.lastTransitionTime) }]
}

/** The obstacle of a gang that its scheduler cannot schedule. */
export function gangObstacle(gang: PodGang): Obstacle | undefined {
  const cause = unschedulableCondition(gang)
  return (
    cause && {
      value: stalled.gangUnschedulable(keyOf(gang), cause.message),
      since: sinceOf(cause.lastTransitionTime),
    }
  )
}

export interface StallInput {
  readonly lastErrors: readonly LastError[]
  readonly obstacles: Iterable<Obstacle>
  /** In the order of the gangs. */
  readonly gangObstacles: Iterable<Obstacle>
  /** The condition UpdateProgressing that is written next. */
  readonly update: ConditionValue | undefined
  /** RFC 3339. */
  readonly now: string
}

export interface StallPlan {
  readonly condition: ConditionValue | undefined
  /** When the next cause has lasted long enough, milliseconds since the epoch. */
  readonly deadline: number | undefined
}

/** The first cause that has lasted long enough: errors first, then gangs in their order, then failing pods. */
export function planStall({ lastErrors, obstacles, gangObstacles, update, now }: StallInput): StallPlan {
  const at = Date.parse(now)
  let deadline: number | undefined
  const isDue = ({ value, since }: Obstacle) => {
    // Only a change of the set can fix an exceeded limit. A time in the future comes from another clock.
    const due = value.reason === limitReason ? at : Math.min(since, at) + stalledAfterMs
    if (due <= at) return true
    deadline = Math.min(deadline ?? due, due)
    return false
  }
  const condition = Iterator.from(causes(lastErrors, obstacles, gangObstacles)).find(isDue)?.value
  if (condition) return { condition, deadline: undefined }
  const isLate = update?.reason === deadlineReason && update.status === 'False'
  return { condition: isLate ? stalled.updateDeadlineExceeded(update.message) : undefined, deadline }
}

const limitReason = stalled.limitExceeded('').reason
const deadlineReason = 'ProgressDeadlineExceeded'

function* causes(
  lastErrors: readonly LastError[],
  obstacles: Iterable<Obstacle>,
  gangObstacles: Iterable<Obstacle>,
): Generator<Obstacle> {
  const [first] = lastErrors
  if (first) yield { value: ofError('', first), since: sinceOf(first.observedAt) }
  const failing: Obstacle[] = []
  for (const obstacle of obstacles) {
    if (obstacle.value.reason === podsFailingReason) failing.push(obstacle)
    else yield obstacle
  }
  yield* gangObstacles
  yield* failing
}

const podsFailingReason = stalled.podsFailing('', '').reason

/** A time that cannot be parsed counts as long ago. */
function sinceOf(time: string): number {
  const since = Date.parse(time)
  return Number.isNaN(since) ? 0 : since
}

/**
 * The event for a gang that has become unschedulable, or whose cause has changed. Counts in the message change with
 * every node, so they are not compared.
 */
export function stallEvent(
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
): EventValue | undefined {
  const { reason } = stalled.gangUnschedulable('', '')
  const known = findCondition(before, conditionType.stalled)
  const current = findCondition(after, conditionType.stalled)
  if (current?.reason !== reason) return undefined
  const isSame = known?.reason === reason && withoutNumbers(known.message) === withoutNumbers(current.message)
  return isSame ? undefined : events.gangUnschedulable(current.message)
}

function withoutNumbers(text: string): string {
  return text.replaceAll(/\d+/g, '')
}
