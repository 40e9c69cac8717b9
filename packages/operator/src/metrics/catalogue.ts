// SPDX-License-Identifier: Apache-2.0

// Every metric of the operator. None has a label with the name of an object: the number of series depends on the
// states below and not on the number of sets. Only the leader has these metrics.
import { describeCounter, describeGauge, describeHistogram } from '@grove/kube'

/** One second to two hours: from a small set on free nodes to a set that waits for nodes and loads large models. */
const minutesBuckets = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200]

export const setStates = ['available', 'unavailable', 'updating', 'failing', 'terminating'] as const
export const gangStates = [
  'incomplete',
  'pending',
  'starting',
  'running',
  'unhealthy',
  'failed',
  'succeeded',
  'terminating',
] as const
export const podStates = ['gated', 'pending', 'starting', 'ready', 'finished', 'terminating'] as const
export const updateStates = ['progressing', 'paused', 'partitioned', 'deadline_exceeded'] as const
export const milestones = ['created', 'scheduled', 'ready'] as const
/** Classes of sets by the number of their pods. */
export const sizeClasses = ['1-9', '10-99', '100-999', '1000+'] as const

export const operatorCatalogue = {
  sets: describeGauge({
    name: 'grove_podcliquesets',
    help: `PodCliqueSets by state: ${setStates.join(', ')}. failing: status.lastErrors is not empty.`,
    question: 'How many sets serve, and how many do not?',
    labelNames: ['state'],
  }),
  replicas: describeGauge({
    name: 'grove_podcliqueset_replicas',
    help: 'Replicas of all PodCliqueSets by state: desired, available',
    question: 'How many replicas of all sets serve, of how many?',
    labelNames: ['state'],
  }),
  gangs: describeGauge({
    name: 'grove_podgangs',
    help: `PodGangs by state: ${gangStates.join(', ')}. incomplete: some of its pods do not exist yet.`,
    question: 'How many gangs run, and how many wait for a scheduler?',
    labelNames: ['state'],
  }),
  oldestPendingGang: describeGauge({
    name: 'grove_podgangs_oldest_pending_seconds',
    help: 'Time since the oldest pending PodGang was complete; 0 if none is pending',
    question: 'How long does the gang wait that waits longest for a scheduler?',
  }),
  pods: describeGauge({
    name: 'grove_pods',
    help: `Pods of PodCliqueSets by state: ${podStates.join(', ')}. starting: on a node, but not ready.`,
    question: 'How many pods serve, start or wait for a node?',
    labelNames: ['state'],
  }),
  startup: describeHistogram({
    name: 'grove_podcliqueset_startup_seconds',
    help: 'Time from the creation of a PodCliqueSet until all of its pods were created, scheduled and ready for the first time, by size of the set in pods',
    question: 'How long does a new set take to serve, and which part of it is scheduling?',
    labelNames: ['milestone', 'size'],
    buckets: minutesBuckets,
  }),
  gangTerminations: describeCounter({
    name: 'grove_gang_terminations_total',
    help: 'Replicas that gang termination deleted, by scope and by reason of the condition MinAvailableBreached',
    question: 'How often are replicas terminated, and why?',
    labelNames: ['scope', 'reason'],
  }),
  podReplacements: describeCounter({
    name: 'grove_pod_replacements_total',
    help: 'Pods that the operator deleted to replace them, by reason: outdated (update), finished (the pod failed or ended)',
    question: 'How often are pods replaced, and why?',
    labelNames: ['reason'],
  }),
  updates: describeGauge({
    name: 'grove_updates',
    help: `Updates of PodCliqueSets that are not complete, by state: ${updateStates.join(', ')}`,
    question: 'How many updates run, and does one of them not make progress?',
    labelNames: ['state'],
  }),
  updateReplicas: describeGauge({
    name: 'grove_update_replicas',
    help: 'Replicas of the PodCliqueSets that are being updated, by state: updated, outdated',
    question: 'How far are the updates?',
    labelNames: ['state'],
  }),
  oldestUpdate: describeGauge({
    name: 'grove_updates_oldest_seconds',
    help: 'Time since the start of the oldest update that is not complete and neither paused nor partitioned; 0 if there is none',
    question: 'Does an update take too long?',
  }),
  updatesStarted: describeCounter({
    name: 'grove_updates_started_total',
    help: 'Updates of PodCliqueSets that were started',
    question: 'How often are sets updated?',
  }),
  updateDuration: describeHistogram({
    name: 'grove_update_duration_seconds',
    help: 'Time from the start to the end of an update, by size of the set in pods',
    question: 'How long does an update take?',
    labelNames: ['size'],
    buckets: minutesBuckets,
  }),
  errors: describeCounter({
    name: 'grove_reconcile_errors_total',
    help: 'Failed reconciles by controller and error code. The code is one of status.lastErrors, else the reason of the API server, else Unknown.',
    question: 'Why do reconciles fail?',
    labelNames: ['controller', 'code'],
  }),
} as const

export const operatorMetrics = Object.values(operatorCatalogue)
