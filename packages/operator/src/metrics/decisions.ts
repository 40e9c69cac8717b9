// SPDX-License-Identifier: Apache-2.0

// Logs and counts the decisions that users ask about.
import { type EventValue, minAvailableBreached } from '@grove/api'
import { counter, type Logger, type Registry } from '@grove/kube'
import type { DecisionSink } from '../apply/decisions.ts'
import type { EventSink } from '../apply/intent.ts'
import { operatorCatalogue } from './catalogue.ts'
import { identityOf } from './identity.ts'

/** A clique may replace thousands of pods at once. The log line names only the first ones. */
const mostNames = 10

/** The breach reasons of cliques. Terminations of set replicas also have that of groups. */
const cliqueReasons = [
  minAvailableBreached.scheduledBelowMinimum(0, 0),
  minAvailableBreached.tooFewPods(0, 0),
]
const terminationReasons = {
  PodCliqueSet: [...cliqueReasons, minAvailableBreached.tooFewGroupReplicas(0, 0)],
  PodCliqueScalingGroup: cliqueReasons,
}

export function decisionSink(log: Logger, registry?: Registry): DecisionSink {
  const terminations = registry && counter(registry, operatorCatalogue.gangTerminations)
  const replacements = registry && counter(registry, operatorCatalogue.podReplacements)
  // Initialized to zero: an alert sees no increase in a series that appears with its first termination.
  for (const [scope, conditions] of Object.entries(terminationReasons))
    for (const { reason } of conditions) terminations?.inc({ scope, reason }, 0)
  for (const reason of ['outdated', 'finished']) replacements?.inc({ reason }, 0)
  return {
    replicaTerminated({ set, scalingGroup, replica, reason, because }) {
      const scope = scalingGroup === undefined ? 'PodCliqueSet' : 'PodCliqueScalingGroup'
      terminations?.inc({ scope, reason })
      log.info('Gang termination deleted a replica', {
        ...identityOf(set),
        ...(scalingGroup !== undefined && { scalingGroup }),
        replica,
        reason,
        because,
      })
    },
    podsReplaced(clique, pods, reason) {
      if (pods.length === 0) return
      replacements?.inc({ reason }, pods.length)
      log.info('Replaced pods', {
        ...identityOf(clique),
        reason,
        count: pods.length,
        pods: pods.slice(0, mostNames).map(({ metadata }) => metadata.name),
      })
    },
  }
}

/**
 * Reasons of events that are decisions or need action by a user. The others repeat other log lines, or occur once per
 * pod.
 */
const loggedReasons: ReadonlySet<string> = new Set([
  'ReplicaLimitExceeded',
  'AllScheduledReplicasLost',
  'GangTerminationScheduled',
  'OrphansAdopted',
  'RevisionNotRecorded',
  'ComputeDomainHeld',
  'TopologyDriftDetected',
  'TopologyInSync',
])

/** Logs events: those above at info, all others at debug. */
export function loggedEvents(sink: EventSink, log: Logger): EventSink {
  return {
    emit(about, source, event: EventValue) {
      sink.emit(about, source, event)
      const { reason, message } = event
      log[loggedReasons.has(reason) ? 'info' : 'debug'](message, { ...identityOf(about), event: reason })
    },
  }
}
