// SPDX-License-Identifier: Apache-2.0

// Every metric of the gang scheduler. Only the leader has values.
import { describeCounter, describeGauge, describeHistogram } from '@grove/kube'

export const schedulerCatalogue = {
  decisions: describeCounter({
    name: 'grove_scheduler_decisions_total',
    help: 'Decisions about gangs, by verdict and provenance. Every scheduling cycle decides about every gang.',
    question: 'Does the scheduler prove its decisions, or does its budget end?',
    labelNames: ['verdict', 'provenance'],
  }),
  duration: describeHistogram({
    name: 'grove_scheduler_decision_duration_seconds',
    help: 'Time of the placement search of one scheduling cycle',
    question: 'How long does a decision take?',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
  steps: describeCounter({
    name: 'grove_scheduler_steps_total',
    help: 'Steps of the placement search',
    question: 'How hard is the search?',
  }),
  waiting: describeGauge({
    name: 'grove_gangs_waiting',
    help: 'Gangs that wait, by the code and tier of the cause',
    question: 'Why do gangs wait?',
    labelNames: ['code', 'tier'],
  }),
  bindings: describeCounter({
    name: 'grove_scheduler_bindings_total',
    help: 'Pods that were decided to run on a node, by part of the gang: minimum, surplus',
    question: 'How many pods does the scheduler place?',
    labelNames: ['part'],
  }),
  conflicts: describeCounter({
    name: 'grove_scheduler_conflicts_total',
    help: 'Pods that the scheduler bound and a kubelet rejected, for example because another scheduler uses the node, by node pool',
    question: 'Does another scheduler use the same nodes?',
    labelNames: ['node_pool'],
  }),
  allocatable: describeGauge({
    name: 'grove_allocatable_gangs',
    help: 'Further copies of the base gang of a PodCliqueSet that fit: in the whole cluster, or the sum over the domains of a topology level. At most 20 sets; a count ends at 100.',
    question: 'How many more replicas of a set fit?',
    labelNames: ['set', 'level'],
  }),
  fragmentation: describeGauge({
    name: 'grove_fragmentation_ratio',
    help: 'Share of the free amount of a resource that pods of the present sets cannot use',
    question: 'How much of the free capacity is unusable because it is scattered?',
    labelNames: ['resource'],
  }),
} as const

/** Only a process with --dry-run has them, so they are not part of the dashboard. */
export const dryRunCatalogue = {
  reports: describeCounter({
    name: 'grove_scheduler_dry_run_reports_total',
    help: 'Reports of a scheduler that runs with --dry-run, by kind (wouldSchedule, wouldWait, scheduledByOther) and by the scheduler that the gang names',
    question: 'What would this scheduler have done with the gangs of another one?',
    labelNames: ['kind', 'scheduler'],
  }),
  lead: describeHistogram({
    name: 'grove_scheduler_dry_run_lead_seconds',
    help: 'Time between the decision of a scheduler that runs with --dry-run and the last binding of the gang by its own scheduler',
    question: 'How much earlier would this scheduler have scheduled a gang?',
    labelNames: ['scheduler'],
    buckets: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800],
  }),
} as const

export const dryRunMetrics = Object.values(dryRunCatalogue)
export const schedulerMetrics = Object.values(schedulerCatalogue)
