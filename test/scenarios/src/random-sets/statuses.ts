// SPDX-License-Identifier: Apache-2.0

// Compares statuses with the pods and children that they count.
import {
  type ConditionValue,
  conditionType,
  generationHash,
  label,
  minAvailableBreached,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  podCliqueScheduled,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import { isReady } from '../harness.ts'
import { type Observed, podsOf } from './observed.ts'
import { isUpToDate, updatedPods } from './revisions.ts'

export function statusViolations(seen: Observed): string[] {
  return [
    ...seen.cliques.flatMap(clique => compare(clique, cliqueStatus(seen, clique))),
    ...seen.groups.flatMap(group => compare(group, groupStatus(seen, group))),
    ...compare(seen.set as Stored<typeof seen.set>, setStatus(seen)),
  ]
}

type Facts = Readonly<Record<string, unknown>>

function compare(
  object: { kind?: string; metadata: { name: string; generation?: number }; status?: unknown },
  facts: Facts,
): string[] {
  const { name, generation } = object.metadata
  const status = (object.status ?? {}) as Readonly<Record<string, unknown>> & {
    conditions?: ConditionValue[]
    lastErrors?: { description: string }[]
  }
  const conditions = Object.fromEntries((status.conditions ?? []).map(one => [one.type, textOf(one)]))
  const errors = (status.lastErrors ?? []).map(({ description }) => `status of ${name}: ${description}`)
  const wrong = Object.entries({ observedGeneration: generation, ...facts }).flatMap(([member, wanted]) => {
    const actual = member in status || !/^[A-Z]/.test(member) ? (status[member] ?? 0) : conditions[member]
    return actual === (wanted ?? 0) ? [] : [`status of ${name}: ${member} is ${actual}, not ${wanted}`]
  })
  const unexpected = Object.keys(conditions).filter(type => !(type in facts) && !optionalConditions.has(type))
  return [...errors, ...wrong, ...unexpected.map(type => `${name} has the condition ${type}`)]
}

/** Conditions that depend on what happened before. */
const optionalConditions: ReadonlySet<string> = new Set([
  conditionType.everScheduled,
  conditionType.everHealthy,
  conditionType.updateProgressing,
  conditionType.gangTerminationInProgress,
  conditionType.podsFailing,
  conditionType.stalled,
  conditionType.available,
])

/** Start-up, total loss and scaling to zero differ in the message. */
const nothingScheduled = 'False while nothing is scheduled'

function textOf({ status, reason, message }: ConditionValue): string {
  return reason.startsWith('InsufficientScheduled') && message.includes('suppressed')
    ? nothingScheduled
    : `${status} ${reason}: ${message}`
}

const isScheduled = (pod: Pod) =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'PodScheduled' && status === 'True')

function cliqueStatus(seen: Observed, clique: Stored<PodClique>): Facts {
  const { metadata, spec } = clique
  const pods = podsOf(seen, metadata.name)
  const scheduled = pods.filter(isScheduled).length
  const minimum = spec.minAvailable!
  const { scheduledBelowMinimum, enoughPods } = minAvailableBreached
  const breach =
    scheduled < minimum ? scheduledBelowMinimum(scheduled, minimum) : enoughPods(minimum, scheduled)
  return {
    replicas: pods.length,
    readyReplicas: pods.filter(isReady).length,
    scheduledReplicas: scheduled,
    scheduleGatedReplicas: pods.filter(pod => pod.spec?.schedulingGates?.length).length,
    updatedReplicas: updatedPods(seen, clique),
    ...(isUpToDate(seen, clique) && {
      currentPodTemplateHash: metadata.labels?.[label.podTemplateHash],
      currentPodCliqueSetGenerationHash: seen.set.status?.currentGenerationHash,
    }),
    hpaPodSelector: metadata.labels?.[label.scalingGroup]
      ? undefined
      : `app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=${seen.set.metadata.name},grove.io/podclique=${metadata.name}`,
    [conditionType.podCliqueScheduled]: textOf(podCliqueScheduled(minimum, scheduled)),
    [conditionType.minAvailableBreached]: scheduled === 0 ? nothingScheduled : textOf(breach),
  }
}

function groupStatus(seen: Observed, { metadata, spec }: Stored<PodCliqueScalingGroup>): Facts {
  const replicas = Array.from({ length: spec.replicas }, (_, replica) =>
    spec.cliqueNames.map(name =>
      seen.cliques.find(clique => clique.metadata.name === `${metadata.name}-${replica}-${name}`),
    ),
  )
  const count = (test: (clique: Stored<PodClique>) => boolean) =>
    replicas.filter(cliques => cliques.every(clique => clique && test(clique))).length
  const scheduledIn = (clique: Stored<PodClique>) =>
    podsOf(seen, clique.metadata.name).filter(isScheduled).length
  const scheduled = count(clique => scheduledIn(clique) >= clique.spec.minAvailable!)
  const healthy = count(
    clique => scheduledIn(clique) === 0 || scheduledIn(clique) >= clique.spec.minAvailable!,
  )
  const minimum = spec.minAvailable!
  const { scheduledBelowMinimum, enoughGroupReplicas } = minAvailableBreached
  const breach =
    scheduled < minimum ? scheduledBelowMinimum(scheduled, minimum) : enoughGroupReplicas(healthy, minimum)
  return {
    replicas: spec.replicas,
    scheduledReplicas: scheduled,
    availableReplicas: count(clique => hasMinimumReady(seen, clique)),
    updatedReplicas: count(clique => hasMinimumReady(seen, clique) && isUpToDate(seen, clique)),
    ...(count(clique => isUpToDate(seen, clique)) === spec.replicas && {
      currentPodCliqueSetGenerationHash: seen.set.status?.currentGenerationHash,
    }),
    selector: `app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=${seen.set.metadata.name},grove.io/podcliquescalinggroup=${metadata.name}`,
    [conditionType.minAvailableBreached]: scheduled === 0 ? nothingScheduled : textOf(breach),
  }
}

function setStatus(seen: Observed): Facts {
  const { replicas = 0 } = seen.set.spec
  const states = Array.from({ length: replicas }, (_, replica) => {
    const ofReplica = ({ metadata }: Stored) => metadata.labels?.[label.setReplicaIndex] === String(replica)
    const cliques = seen.cliques.filter(ofReplica)
    const standalone = cliques.filter(({ metadata }) => !metadata.labels?.[label.scalingGroup])
    const groups = seen.groups.filter(ofReplica)
    const isAvailable =
      standalone.every(clique => hasMinimumReady(seen, clique)) &&
      groups.every(
        group => (groupStatus(seen, group).availableReplicas as number) >= group.spec.minAvailable!,
      )
    return { isAvailable, isUpdated: isAvailable && cliques.every(clique => isUpToDate(seen, clique)) }
  })
  return {
    replicas,
    availableReplicas: states.filter(({ isAvailable }) => isAvailable).length,
    updatedReplicas: states.filter(({ isUpdated }) => isUpdated).length,
    currentGenerationHash: generationHash(seen.set.spec),
    hpaPodSelector: `app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=${seen.set.metadata.name}`,
  }
}

function hasMinimumReady(seen: Observed, clique: Stored<PodClique>): boolean {
  return podsOf(seen, clique.metadata.name).filter(isReady).length >= clique.spec.minAvailable!
}
