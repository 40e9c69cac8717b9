// SPDX-License-Identifier: Apache-2.0

// For every alert: the series that fire it, and the series of a cluster without the problem. Values are in the notation
// of promtool, one sample per minute.

export interface AlertCase {
  readonly alert: string
  /** Series with the problem. */
  readonly broken: Readonly<Record<string, string>>
  /** The same series without it. */
  readonly healthy: Readonly<Record<string, string>>
  /** The time at which the alert has fired. */
  readonly after: string
  /** Labels of the alert in addition to its severity. */
  readonly labels?: Readonly<Record<string, string>>
}

const requests = 'rest_client_resource_requests_total'
const latency = 'controller_runtime_webhook_latency_seconds_bucket'
const waits = 'workqueue_queue_duration_seconds_bucket'
const validate = '/webhooks/validate-podcliqueset'

/** Samples of a counter that grows by this each minute. */
const grows = (by: number, minutes = 120) => `0+${by}x${minutes}`
const stays = (value: number, minutes = 240) => `${value}x${minutes}`

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'GroveOperatorHasNoLeader',
    broken: { 'leader_election_master_status{name="grove-operator-leader-election"}': stays(0) },
    healthy: { 'leader_election_master_status{name="grove-operator-leader-election"}': stays(1) },
    after: '6m',
  },
  {
    alert: 'GroveReconcileErrors',
    broken: { 'grove_reconcile_errors_total{controller="podclique",code="ERR_CREATE_POD"}': grows(6) },
    healthy: {
      'grove_reconcile_errors_total{controller="podclique",code="ERR_CREATE_POD"}': grows(0),
      'grove_reconcile_errors_total{controller="podclique",code="Conflict"}': grows(60),
    },
    after: '30m',
    labels: { controller: 'podclique', code: 'ERR_CREATE_POD' },
  },
  {
    alert: 'GroveReconcileStuck',
    broken: { 'workqueue_longest_running_processor_seconds{name="podclique"}': stays(200) },
    healthy: {
      'workqueue_longest_running_processor_seconds{name="podclique"}': stays(30),
      'workqueue_longest_running_processor_seconds{name="another-operator"}': stays(900),
    },
    after: '10m',
    labels: { name: 'podclique' },
  },
  {
    alert: 'GroveQueueSlow',
    broken: {
      [`${waits}{name="podcliqueset",le="10"}`]: grows(0),
      [`${waits}{name="podcliqueset",le="100"}`]: grows(60),
      [`${waits}{name="podcliqueset",le="+Inf"}`]: grows(60),
    },
    healthy: {
      [`${waits}{name="podcliqueset",le="10"}`]: grows(60),
      [`${waits}{name="podcliqueset",le="100"}`]: grows(60),
      [`${waits}{name="podcliqueset",le="+Inf"}`]: grows(60),
    },
    after: '30m',
    labels: { name: 'podcliqueset' },
  },
  {
    alert: 'GroveCacheStale',
    broken: { 'watch_cache_staleness_seconds{resource="pods"}': stays(400) },
    healthy: { 'watch_cache_staleness_seconds{resource="pods"}': stays(60) },
    after: '10m',
    labels: { resource: 'pods' },
  },
  {
    alert: 'GroveApiRequestsFail',
    broken: {
      [`${requests}{verb="create",resource="pods",code="201"}`]: grows(60),
      [`${requests}{verb="create",resource="pods",code="429"}`]: grows(30),
    },
    healthy: {
      [`${requests}{verb="create",resource="pods",code="201"}`]: grows(60),
      [`${requests}{verb="create",resource="pods",code="409"}`]: grows(30),
      [`${requests}{verb="watch",resource="pods",code="<error>"}`]: grows(60),
    },
    after: '30m',
    labels: { resource: 'pods' },
  },
  {
    alert: 'GroveAdmissionFails',
    broken: { 'webhook_review_process_failures_total{reason="budget"}': grows(1) },
    healthy: { 'webhook_review_process_failures_total{reason="budget"}': stays(3) },
    after: '20m',
  },
  {
    alert: 'GroveAdmissionSlow',
    broken: {
      [`${latency}{webhook="${validate}",le="1"}`]: grows(0),
      [`${latency}{webhook="${validate}",le="5"}`]: grows(60),
      [`${latency}{webhook="${validate}",le="+Inf"}`]: grows(60),
    },
    healthy: {
      [`${latency}{webhook="${validate}",le="1"}`]: grows(60),
      [`${latency}{webhook="${validate}",le="5"}`]: grows(60),
      [`${latency}{webhook="${validate}",le="+Inf"}`]: grows(60),
    },
    after: '25m',
    labels: { webhook: validate },
  },
  {
    alert: 'GrovePodCliqueSetsFailing',
    broken: { 'grove_podcliquesets{state="failing"}': stays(2) },
    healthy: {
      'grove_podcliquesets{state="failing"}': stays(0),
      'grove_podcliquesets{state="available"}': stays(9),
    },
    after: '20m',
  },
  {
    alert: 'GroveGangsPending',
    broken: { grove_podgangs_oldest_pending_seconds: '0+60x240' },
    healthy: { grove_podgangs_oldest_pending_seconds: stays(120) },
    after: '40m',
  },
  {
    alert: 'GroveGangTerminations',
    broken: {
      'grove_gang_terminations_total{scope="PodCliqueSet",reason="InsufficientReadyPods"}': grows(1),
    },
    healthy: {
      'grove_gang_terminations_total{scope="PodCliqueSet",reason="InsufficientReadyPods"}': '0x10 1x200',
    },
    after: '61m',
    labels: { scope: 'PodCliqueSet', reason: 'InsufficientReadyPods' },
  },
  {
    alert: 'GrovePodsFail',
    broken: { 'grove_pod_replacements_total{reason="finished"}': grows(1) },
    healthy: {
      'grove_pod_replacements_total{reason="finished"}': stays(5),
      'grove_pod_replacements_total{reason="outdated"}': grows(60),
    },
    after: '61m',
  },
  {
    alert: 'GroveUpdateStuck',
    broken: { 'grove_updates{state="deadline_exceeded"}': stays(1) },
    healthy: {
      'grove_updates{state="deadline_exceeded"}': stays(0),
      'grove_updates{state="progressing"}': stays(3),
      grove_updates_oldest_seconds: stays(600),
    },
    after: '10m',
  },
  {
    alert: 'GroveUpdateStuck',
    broken: { grove_updates_oldest_seconds: stays(15_000) },
    healthy: { grove_updates_oldest_seconds: stays(14_000) },
    after: '10m',
  },
  {
    alert: 'GroveSchedulerHasNoLeader',
    broken: { 'leader_election_master_status{name="grove-scheduler-leader-election"}': stays(0) },
    healthy: { 'leader_election_master_status{name="grove-scheduler-leader-election"}': stays(1) },
    after: '6m',
  },
  {
    alert: 'GroveSchedulerBudgetExhausted',
    broken: {
      'grove_scheduler_decisions_total{verdict="Unschedulable",provenance="budget-exhausted"}': grows(60),
      'grove_scheduler_decisions_total{verdict="Scheduled",provenance="proved"}': grows(30),
    },
    healthy: {
      'grove_scheduler_decisions_total{verdict="Unschedulable",provenance="budget-exhausted"}': grows(5),
      'grove_scheduler_decisions_total{verdict="Scheduled",provenance="proved"}': grows(60),
    },
    after: '60m',
  },
  {
    alert: 'GroveCapacityFragmented',
    broken: { 'grove_fragmentation_ratio{resource="nvidia.com/gpu"}': stays(0.7) },
    healthy: { 'grove_fragmentation_ratio{resource="nvidia.com/gpu"}': stays(0.2) },
    after: '70m',
    labels: { resource: 'nvidia.com/gpu' },
  },
]
