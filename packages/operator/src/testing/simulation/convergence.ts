// SPDX-License-Identifier: Apache-2.0

// Checks that the pods and the status of a set match its spec.
import { label, type Pod } from '@grove/api'
import { resources } from '../../caches/resources.ts'
import { revisionOf } from '../../revision/set-revision.ts'
import { isActive, isReady, templateHashOf } from '../../state/pod-state.ts'
import type { Simulation } from './simulation.ts'

/** Runs reconcilers, nodes and the clock until the set is in sync. Returns false after this number of rounds. */
export async function converge(simulation: Simulation, rounds: number): Promise<boolean> {
  for (let round = 0; round < rounds; round++) {
    await simulation.reconcileAll()
    while (simulation.random.chance(95) && simulation.nodes.progress());
    await simulation.clock.advance(1_000)
    if (isConverged(simulation)) return true
  }
  return false
}

export function isConverged(simulation: Simulation): boolean {
  const { set, cliques } = simulation
  const pods = simulation.api.list(resources.pods) as Pod[]
  const revision = revisionOf(set)
  const wanted = cliques.reduce((sum, { spec }) => sum + spec.replicas, 0)
  const cliqueOf = (pod: Pod) =>
    cliques.find(({ metadata }) => metadata.uid === pod.metadata.ownerReferences?.[0]?.uid)
  const { status } = set
  return (
    pods.length === wanted &&
    cliques.every(({ metadata }) => Number(metadata.labels?.[label.setReplicaIndex]) < set.spec.replicas!) &&
    pods.every(pod => {
      const owner = cliqueOf(pod)
      return owner && isActive(pod) && isReady(pod) && templateHashOf(pod) === revision.hashOf(owner)
    }) &&
    status?.currentGenerationHash === revision.generationHash &&
    (status.updateProgress === undefined || status.updateProgress.updateEndedAt !== undefined) &&
    status.observedGeneration === set.metadata.generation &&
    cliques.every(
      ({ spec, status: own }) =>
        own?.readyReplicas === spec.replicas &&
        own.updatedReplicas === spec.replicas &&
        own.currentPodCliqueSetGenerationHash === revision.generationHash &&
        !own.conditions?.some(({ type }) => type === 'UpdateProgressing'),
    )
  )
}

/** The state of the set for the message of a failure. */
export function summary(simulation: Simulation) {
  const { set, cliques, groups } = simulation
  return {
    set: {
      spec: { replicas: set.spec.replicas, updateStrategy: set.spec.updateStrategy },
      status: set.status,
    },
    groups: groups.map(({ metadata, spec, status }) => [metadata.name, spec.replicas, status]),
    cliques: cliques.map(({ metadata, spec, status }) => [
      metadata.name,
      spec.replicas,
      metadata.labels?.[label.podTemplateHash],
      status,
    ]),
    pods: simulation.api
      .list(resources.pods)
      .map(pod => [
        pod.metadata.name,
        templateHashOf(pod),
        isReady(pod),
        pod.spec?.nodeName,
        pod.metadata.deletionTimestamp,
        pod.spec?.schedulingGates?.length,
      ]),
  }
}
