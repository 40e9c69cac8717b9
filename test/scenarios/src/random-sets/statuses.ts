// SPDX-License-Identifier: Apache-2.0

// Compares statuses with the pods and children that they count.
import { conditionType, label, type Pod, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import type { Stored } from '@grove/kube'
import { isReady } from '../harness.ts'
import { type Observed, podsOf } from './observed.ts'

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
    conditions?: { type: string; status: string }[]
    lastErrors?: { description: string }[]
  }
  const conditions = Object.fromEntries((status.conditions ?? []).map(one => [one.type, one.status]))
  const errors = (status.lastErrors ?? []).map(({ description }) => `status of ${name}: ${description}`)
  const wrong = Object.entries({ observedGeneration: generation, ...facts }).flatMap(([member, wanted]) => {
    const actual = member in status || !/^[A-Z]/.test(member) ? (status[member] ?? 0) : conditions[member]
    return actual === (wanted ?? 0) ? [] : [`status of ${name}: ${member} is ${actual}, not ${wanted}`]
  })
  return [...errors, ...wrong]
}

const isScheduled = (pod: Pod) =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'PodScheduled' && status === 'True')

function cliqueStatus(seen: Observed, clique: Stored<PodClique>): Facts {
  const pods = podsOf(seen, clique.metadata.name)
  const scheduled = pods.filter(isScheduled).length
  const hash = clique.metadata.labels?.[label.podTemplateHash]
  return {
    replicas: pods.length,
    readyReplicas: pods.filter(isReady).length,
    scheduledReplicas: scheduled,
    scheduleGatedReplicas: pods.filter(pod => pod.spec?.schedulingGates?.length).length,
    updatedReplicas: pods.filter(pod => pod.metadata.labels?.[label.podTemplateHash] === hash).length,
    currentPodTemplateHash: hash,
    currentPodCliqueSetGenerationHash: seen.set.status?.currentGenerationHash,
    hpaPodSelector: clique.metadata.labels?.[label.scalingGroup]
      ? undefined
      : `app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=${seen.set.metadata.name},grove.io/podclique=${clique.metadata.name}`,
    [conditionType.podCliqueScheduled]: scheduled >= clique.spec.minAvailable! ? 'True' : 'False',
  }
}

function groupStatus(seen: Observed, group: Stored<PodCliqueScalingGroup>): Facts {
  const replicas = Array.from({ length: group.spec.replicas }, (_, replica) =>
    group.spec.cliqueNames.map(name =>
      seen.cliques.find(({ metadata }) => metadata.name === `${group.metadata.name}-${replica}-${name}`),
    ),
  )
  const count = (test: (clique: Stored<PodClique>) => boolean) =>
    replicas.filter(cliques => cliques.every(clique => clique && test(clique))).length
  return {
    replicas: group.spec.replicas,
    scheduledReplicas: count(
      clique => podsOf(seen, clique.metadata.name).filter(isScheduled).length >= clique.spec.minAvailable!,
    ),
    availableReplicas: count(clique => hasMinimumReady(seen, clique)),
    updatedReplicas: count(clique => hasMinimumReady(seen, clique)),
    currentPodCliqueSetGenerationHash: seen.set.status?.currentGenerationHash,
    selector: `app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=${seen.set.metadata.name},grove.io/podcliquescalinggroup=${group.metadata.name}`,
  }
}

function setStatus(seen: Observed): Facts {
  const available = Array.from({ length: seen.set.spec.replicas ?? 0 }, (_, replica) =>
    String(replica),
  ).filter(replica => {
    const ofReplica = ({ metadata }: Stored) => metadata.labels?.[label.setReplicaIndex] === replica
    const standalone = seen.cliques.filter(
      clique => ofReplica(clique) && clique.metadata.labels?.[label.scalingGroup] === undefined,
    )
    const groups = seen.groups.filter(ofReplica)
    return (
      standalone.every(clique => hasMinimumReady(seen, clique)) &&
      groups.every(
        group => (groupStatus(seen, group).availableReplicas as number) >= group.spec.minAvailable!,
      )
    )
  })
  return {
    replicas: seen.set.spec.replicas,
    availableReplicas: available.length,
    updatedReplicas: available.length,
    hpaPodSelector: `app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=${seen.set.metadata.name}`,
  }
}

function hasMinimumReady(seen: Observed, clique: Stored<PodClique>): boolean {
  return podsOf(seen, clique.metadata.name).filter(isReady).length >= clique.spec.minAvailable!
}
