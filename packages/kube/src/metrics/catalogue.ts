// SPDX-License-Identifier: Apache-2.0

// Every metric of this package. Names, labels and help texts that client-go and controller-runtime have are theirs,
// because dashboards know them.
import { describeCounter, describeGauge, describeHistogram } from './description.ts'

const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5,
  1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]
/** Ten nanoseconds to a thousand seconds, a bucket per power of ten. */
const queueBuckets = Array.from({ length: 12 }, (_, power) => 1e-8 * 10 ** power)
const queueLabels = ['name', 'controller'] as const

export const controllerCatalogue = {
  reconciles: describeCounter({
    name: 'controller_runtime_reconcile_total',
    help: 'Total number of reconciliations per controller',
    question: 'How often does each controller reconcile, and how do reconciles end?',
    labelNames: ['controller', 'result'],
  }),
  errors: describeCounter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Total number of reconciliation errors per controller',
    question: 'Do reconciles fail?',
    labelNames: ['controller'],
  }),
  terminalErrors: describeCounter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Total number of terminal reconciliation errors per controller',
    question: 'Always 0: every failed reconcile is retried. Present for dashboards that read it.',
    labelNames: ['controller'],
  }),
  panics: describeCounter({
    name: 'controller_runtime_reconcile_panics_total',
    help: 'Total number of reconciliation panics per controller',
    question: 'Does a defect of the program end reconciles?',
    labelNames: ['controller'],
  }),
  time: describeHistogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Length of time per reconciliation per controller',
    question: 'How long do reconciles take?',
    labelNames: ['controller'],
    buckets: reconcileBuckets,
  }),
  activeWorkers: describeGauge({
    name: 'controller_runtime_active_workers',
    help: 'Number of currently used workers per controller',
    question: 'How many reconciles run at the moment?',
    labelNames: ['controller'],
  }),
  workers: describeGauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Maximum number of concurrent reconciles per controller',
    question: 'How many reconciles can run at once?',
    labelNames: ['controller'],
  }),
} as const

export const queueCatalogue = {
  depth: describeGauge({
    name: 'workqueue_depth',
    help: 'Current depth of workqueue',
    question: 'How many objects wait for a reconcile?',
    labelNames: queueLabels,
  }),
  adds: describeCounter({
    name: 'workqueue_adds_total',
    help: 'Total number of adds handled by workqueue',
    question: 'How often are objects enqueued?',
    labelNames: queueLabels,
  }),
  retries: describeCounter({
    name: 'workqueue_retries_total',
    help: 'Total number of retries handled by workqueue',
    question: 'How often are failed reconciles retried?',
    labelNames: queueLabels,
  }),
  queueDuration: describeHistogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long in seconds an item stays in workqueue before being requested',
    question: 'How long do objects wait for a reconcile?',
    labelNames: queueLabels,
    buckets: queueBuckets,
  }),
  workDuration: describeHistogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long in seconds processing an item from workqueue takes.',
    question: 'How long does the work on an object take?',
    labelNames: queueLabels,
    buckets: queueBuckets,
  }),
  unfinished: describeGauge({
    name: 'workqueue_unfinished_work_seconds',
    help: 'How many seconds of work has been done that is in progress and is not yet in work_duration. Large values indicate stuck workers.',
    question: 'How much work is in progress?',
    labelNames: queueLabels,
  }),
  longestRunning: describeGauge({
    name: 'workqueue_longest_running_processor_seconds',
    help: 'How many seconds has the longest running processor for workqueue been running.',
    question: 'Does a reconcile hang?',
    labelNames: queueLabels,
  }),
} as const

export const clientCatalogue = {
  requests: describeCounter({
    name: 'rest_client_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, method, and host.',
    question: 'How many requests does the process send, and how do they end?',
    labelNames: ['code', 'method', 'host'],
  }),
  duration: describeHistogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Request latency in seconds. Broken down by verb, and resource.',
    question: 'How fast does the API server respond?',
    labelNames: ['verb', 'resource'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  }),
  requestsByResource: describeCounter({
    name: 'rest_client_resource_requests_total',
    help: 'Number of requests to the API server by verb, resource and status code. The code is <error> without a response.',
    question: 'Which requests does the API server receive, reject or throttle?',
    labelNames: ['verb', 'resource', 'code'],
  }),
} as const

export const cacheCatalogue = {
  staleness: describeGauge({
    name: 'watch_cache_staleness_seconds',
    help: 'Seconds since the API server last sent something for the watch of a resource. A quiet server sends a bookmark every minute.',
    question: 'Does the process decide on outdated objects?',
    labelNames: ['resource'],
  }),
  objects: describeGauge({
    name: 'watch_cache_objects',
    help: 'Number of objects in the cache of a resource',
    question: 'How many objects does the process hold in memory?',
    labelNames: ['resource'],
  }),
  lists: describeCounter({
    name: 'watch_cache_lists_total',
    help: 'Number of complete lists of a resource. One per process is normal.',
    question: 'How often do watches have to start over?',
    labelNames: ['resource'],
  }),
  failures: describeCounter({
    name: 'watch_cache_failures_total',
    help: 'Number of lists and watches of a resource that failed',
    question: 'Can the process read every resource that it needs?',
    labelNames: ['resource'],
  }),
} as const

export const webhookCatalogue = {
  requests: describeCounter({
    name: 'controller_runtime_webhook_requests_total',
    help: 'Total number of admission requests by HTTP status code.',
    question: 'How many admission requests arrive, and does the server respond?',
    labelNames: ['webhook', 'code'],
  }),
  inFlight: describeGauge({
    name: 'controller_runtime_webhook_requests_in_flight',
    help: 'Current number of admission requests being served.',
    question: 'How many admission requests are open?',
    labelNames: ['webhook'],
  }),
  latency: describeHistogram({
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'Histogram of the latency of processing admission requests',
    question: 'How long do users wait for admission?',
    labelNames: ['webhook'],
  }),
  panics: describeCounter({
    name: 'controller_runtime_webhook_panics_total',
    help: 'Total number of webhook panics',
    question: 'Does a defect of the program fail admission requests?',
  }),
  processFailures: describeCounter({
    name: 'webhook_review_process_failures_total',
    help: 'Total number of review processes that a request ended, by reason.',
    question: 'Do requests end the admission process?',
    labelNames: ['reason'],
  }),
  rejections: describeCounter({
    name: 'webhook_rejections_total',
    help: 'Total number of rejected admission requests by rule: the kind of the error and its field. A request that breaks several rules counts once for each of them.',
    question: 'Which rules reject the requests of users?',
    labelNames: ['webhook', 'rule'],
  }),
} as const

export const leaseCatalogue = {
  leads: describeGauge({
    name: 'leader_election_master_status',
    help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
    question: 'Which replica leads?',
    labelNames: ['name'],
  }),
  slowPath: describeCounter({
    name: 'leader_election_slowpath_total',
    help: "Total number of slow path exercised in renewing leader leases. 'name' is the string used to identify the lease. Please make sure to group by name.",
    question: 'Does another client write the Lease?',
    labelNames: ['name'],
  }),
} as const

export const certificateCatalogue = {
  reads: describeCounter({
    name: 'certwatcher_read_certificate_total',
    help: 'Total number of certificate reads',
    question: 'Are the certificate files read?',
  }),
  errors: describeCounter({
    name: 'certwatcher_read_certificate_errors_total',
    help: 'Total number of certificate read errors',
    question: 'Can the certificate files be used?',
  }),
} as const

export const eventCatalogue = {
  events: describeCounter({
    name: 'event_recorder_events_total',
    help: 'Writes of events by result: created, repeated, rejected, or dropped because too many waited or too many writes failed',
    question: 'Do events reach the cluster?',
    labelNames: ['result'],
  }),
} as const

/** All metrics of this package. A process has those of the parts that it uses. */
export const kubeMetrics = [
  controllerCatalogue,
  queueCatalogue,
  clientCatalogue,
  cacheCatalogue,
  webhookCatalogue,
  leaseCatalogue,
  certificateCatalogue,
  eventCatalogue,
].flatMap(catalogue => Object.values(catalogue))
