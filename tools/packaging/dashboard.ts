// SPDX-License-Identifier: Apache-2.0

// The Grafana dashboard: rows of panels over the metrics of the catalogues. The description of a panel is the question
// of its metrics.
import { kubeMetrics, type MetricDescription } from '@grove/kube'
import { operatorMetrics } from '@grove/operator'
import { schedulerMetrics } from '@grove/scheduler'

/** All metrics of all processes. */
export const allMetrics: readonly MetricDescription[] = [
  ...operatorMetrics,
  ...schedulerMetrics,
  ...kubeMetrics,
]

interface Query {
  readonly expr: string
  readonly legend: string
}

interface Panel {
  readonly title: string
  readonly unit?: 's' | 'reqps' | 'percentunit' | 'short'
  readonly queries: readonly Query[]
}

interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

const grove = 'podcliqueset|podcliquescalinggroup|podclique|podgang|clustertopology|gang-scheduler'
const webhooks =
  '/webhooks/(default-podcliqueset|validate-podcliqueset|validate-clustertopology|authorizer-webhook)'
const quantile = (q: number, metric: string, by: string, selector = '') =>
  `histogram_quantile(${q}, sum by (le, ${by}) (rate(${metric}_bucket${selector}[$__rate_interval])))`

export const rows: readonly Row[] = [
  {
    title: 'Workloads',
    panels: [
      panel('PodCliqueSets by state', 'short', ['max by (state) (grove_podcliquesets)', '{{state}}']),
      panel('Replicas of sets', 'short', ['max by (state) (grove_podcliqueset_replicas)', '{{state}}']),
      panel('PodGangs by state', 'short', ['max by (state) (grove_podgangs)', '{{state}}']),
      panel('Pods by state', 'short', ['max by (state) (grove_pods)', '{{state}}']),
      panel('Oldest pending gang', 's', ['max(grove_podgangs_oldest_pending_seconds)', 'oldest']),
      panel('Startup of new sets, median', 's', [
        'histogram_quantile(0.5, sum by (le, milestone, size) (increase(grove_podcliqueset_startup_seconds_bucket[1h])))',
        '{{milestone}}, {{size}} pods',
      ]),
    ],
  },
  {
    title: 'Terminations and updates',
    panels: [
      panel('Gang terminations per hour', 'short', [
        'sum by (scope, reason) (increase(grove_gang_terminations_total[1h]))',
        '{{scope}} {{reason}}',
      ]),
      panel('Replaced pods per hour', 'short', [
        'sum by (reason) (increase(grove_pod_replacements_total[1h]))',
        '{{reason}}',
      ]),
      panel(
        'Updates',
        'short',
        ['max by (state) (grove_updates)', '{{state}}'],
        ['sum(increase(grove_updates_started_total[1h]))', 'started in the last hour'],
      ),
      panel('Replicas in updates', 'short', ['max by (state) (grove_update_replicas)', '{{state}}']),
      panel('Oldest update', 's', ['max(grove_updates_oldest_seconds)', 'oldest']),
      panel('Duration of updates, median', 's', [
        'histogram_quantile(0.5, sum by (le, size) (increase(grove_update_duration_seconds_bucket[1d])))',
        '{{size}} pods',
      ]),
    ],
  },
  {
    title: 'Controllers',
    panels: [
      panel('Reconciles', 'reqps', [
        `sum by (controller, result) (rate(controller_runtime_reconcile_total{controller=~"${grove}"}[$__rate_interval]))`,
        '{{controller}} {{result}}',
      ]),
      panel('Reconcile time, 99th percentile', 's', [
        quantile(0.99, 'controller_runtime_reconcile_time_seconds', 'controller', `{controller=~"${grove}"}`),
        '{{controller}}',
      ]),
      panel('Errors by code', 'reqps', [
        'sum by (controller, code) (rate(grove_reconcile_errors_total[$__rate_interval]))',
        '{{controller}} {{code}}',
      ]),
      panel('Queue depth', 'short', [`max by (name) (workqueue_depth{name=~"${grove}"})`, '{{name}}']),
      panel('Time in the queue, 99th percentile', 's', [
        quantile(0.99, 'workqueue_queue_duration_seconds', 'name', `{name=~"${grove}"}`),
        '{{name}}',
      ]),
      panel('Longest running reconcile', 's', [
        `max by (name) (workqueue_longest_running_processor_seconds{name=~"${grove}"})`,
        '{{name}}',
      ]),
    ],
  },
  {
    title: 'API server, caches, leader',
    panels: [
      panel('Requests', 'reqps', [
        'sum by (verb, resource) (rate(rest_client_resource_requests_total{verb!="watch"}[$__rate_interval]))',
        '{{verb}} {{resource}}',
      ]),
      panel('Failed and throttled requests', 'reqps', [
        'sum by (verb, resource, code) (rate(rest_client_resource_requests_total{verb!="watch",code=~"4..|5..|<error>"}[$__rate_interval]))',
        '{{verb}} {{resource}} {{code}}',
      ]),
      panel('Request time, 99th percentile', 's', [
        quantile(0.99, 'rest_client_request_duration_seconds', 'verb'),
        '{{verb}}',
      ]),
      panel('Staleness of caches', 's', [
        'max by (resource) (watch_cache_staleness_seconds)',
        '{{resource}}',
      ]),
      panel('Objects in caches', 'short', ['max by (resource) (watch_cache_objects)', '{{resource}}']),
      panel(
        'Failures and restarts of watches per hour',
        'short',
        ['sum by (resource) (increase(watch_cache_failures_total[1h]))', 'failures of {{resource}}'],
        ['sum by (resource) (increase(watch_cache_lists_total[1h]))', 'lists of {{resource}}'],
      ),
      panel('Leader', 'short', ['leader_election_master_status{name=~"grove-.*"}', '{{name}} {{pod}}']),
      panel('Events', 'reqps', [
        'sum by (result) (rate(event_recorder_events_total[$__rate_interval]))',
        '{{result}}',
      ]),
    ],
  },
  {
    title: 'Admission',
    panels: [
      panel('Requests', 'reqps', [
        `sum by (webhook, code) (rate(controller_runtime_webhook_requests_total{webhook=~"${webhooks}"}[$__rate_interval]))`,
        '{{webhook}} {{code}}',
      ]),
      panel('Latency, 99th percentile', 's', [
        quantile(0.99, 'controller_runtime_webhook_latency_seconds', 'webhook', `{webhook=~"${webhooks}"}`),
        '{{webhook}}',
      ]),
      panel('Rejections by rule per hour', 'short', [
        'topk(10, sum by (rule) (increase(webhook_rejections_total[1h])))',
        '{{rule}}',
      ]),
      panel('Failures of the admission process per hour', 'short', [
        'sum by (reason) (increase(webhook_review_process_failures_total[1h]))',
        '{{reason}}',
      ]),
    ],
  },
  {
    title: 'Gang scheduler',
    panels: [
      panel('Waiting gangs by cause', 'short', [
        'max by (tier, code) (grove_gangs_waiting)',
        '{{tier}}: {{code}}',
      ]),
      panel('Decisions', 'reqps', [
        'sum by (verdict, provenance) (rate(grove_scheduler_decisions_total[$__rate_interval]))',
        '{{verdict}}, {{provenance}}',
      ]),
      panel(
        'Time to decide',
        's',
        [
          'histogram_quantile(0.99, sum by (le) (rate(grove_scheduler_decision_duration_seconds_bucket[$__rate_interval])))',
          '99th percentile',
        ],
        [
          'histogram_quantile(0.5, sum by (le) (rate(grove_scheduler_decision_duration_seconds_bucket[$__rate_interval])))',
          'median',
        ],
      ),
      panel('Search steps', 'short', [
        'sum(rate(grove_scheduler_steps_total[$__rate_interval]))',
        'steps per second',
      ]),
      panel('Bindings', 'reqps', [
        'sum by (part) (rate(grove_scheduler_bindings_total[$__rate_interval]))',
        '{{part}}',
      ]),
      panel('Pods rejected by kubelets per hour', 'short', [
        'sum by (node_pool) (increase(grove_scheduler_conflicts_total[1h]))',
        '{{node_pool}}',
      ]),
      panel('Allocatable gangs', 'short', [
        'max by (set, level) (grove_allocatable_gangs)',
        '{{set}} {{level}}',
      ]),
      panel('Fragmentation', 'percentunit', [
        'max by (resource) (grove_fragmentation_ratio)',
        '{{resource}}',
      ]),
    ],
  },
]

function panel(
  title: string,
  unit: Panel['unit'],
  ...queries: readonly (readonly [expr: string, legend: string])[]
): Panel {
  return { title, ...(unit && { unit }), queries: queries.map(([expr, legend]) => ({ expr, legend })) }
}

/** The names of the metrics of an expression, without the suffixes of histograms. */
export function metricsIn(expr: string): string[] {
  const found = expr.replaceAll(/"[^"]*"/g, '').match(/[a-z][a-z0-9]*(?:_[a-z0-9]+)+/g) ?? []
  const names = found.map(each => each.replace(/_(bucket|sum|count)$/, ''))
  return [...new Set(names.filter(name => !promqlNames.has(name)))]
}

/** Functions, variables and labels with an underscore that expressions use. */
const promqlNames: ReadonlySet<string> = new Set(['histogram_quantile', 'rate_interval', 'node_pool'])

const width = 8
const height = 7
const columns = 3

/** The file by its path. */
export function dashboardFiles(): Record<string, string> {
  return { 'charts/grove/files/dashboard.generated.json': `${JSON.stringify(dashboard(), undefined, 2)}\n` }
}

function dashboard(): object {
  let y = 0
  const panels = rows.flatMap(row => {
    const head = {
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    }
    const inside = row.panels.map((each, index) => ({
      ...panelJson(each),
      gridPos: {
        x: (index % columns) * width,
        y: y + 1 + Math.floor(index / columns) * height,
        w: width,
        h: height,
      },
    }))
    y += 1 + Math.ceil(row.panels.length / columns) * height
    return [head, ...inside]
  })
  return {
    uid: 'grove',
    title: 'Grove',
    tags: ['grove'],
    editable: true,
    refresh: '30s',
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }],
    },
    panels: panels.map((each, index) => ({ id: index + 1, ...each })),
  }
}

function panelJson({ title, unit = 'short', queries }: Panel): object {
  const names = queries.flatMap(({ expr }) => metricsIn(expr))
  const questions = allMetrics.filter(({ name }) => names.includes(name)).map(({ question }) => question)
  return {
    type: 'timeseries',
    title,
    description: [...new Set(questions)].join(' '),
    datasource: { type: 'prometheus', uid: '$datasource' },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      expr,
      legendFormat: legend,
    })),
  }
}
