// SPDX-License-Identifier: Apache-2.0

// Compares dashboard, alerts and documentation with the metrics and the log of running processes.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { readAlerts, readRunbooks } from '../../../tools/packaging/alerts.ts'
import { allMetrics, metricsIn, rows } from '../../../tools/packaging/dashboard.ts'
import { type Monitored, monitoredProcesses } from './monitored-processes.ts'

const panels = rows.flatMap(row => row.panels)
const panelMetrics = panels.flatMap(({ queries }) => queries.flatMap(({ expr }) => metricsIn(expr)))
const alertMetrics = readAlerts().flatMap(({ expr }) => metricsIn(expr))

describe('dashboard and alerts', () => {
  test('use metrics of the catalogues only', () => {
    const known = new Set(allMetrics.map(({ name }) => name))
    const unknown = [...panelMetrics, ...alertMetrics].filter(name => !known.has(name))
    assert.deepEqual(unknown, [])
  })

  test('every metric of Grove has a panel', () => {
    const shown = new Set(panelMetrics)
    const own = allMetrics.map(({ name }) => name).filter(name => name.startsWith('grove_'))
    assert.deepEqual(
      own.filter(name => !shown.has(name)),
      [],
    )
  })

  test('every alert has a runbook, and every runbook an alert', () => {
    const headings = [...readRunbooks().matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    const alerts = readAlerts()
    assert.deepEqual(
      headings,
      alerts.map(({ alert }) => alert),
    )
    for (const { alert, annotations } of alerts)
      assert.equal(annotations.runbook, `docs/operations/runbooks.md#${alert.toLowerCase()}`)
  })

  test('every metric name is declared once', () => {
    const names = allMetrics.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length)
  })
})

describe('running processes', () => {
  let monitored: Monitored

  before(async () => {
    monitored = await monitoredProcesses()
  })

  test('have every metric that a panel or an alert uses', () => {
    const present = new Set(
      [monitored.operatorMetrics, monitored.schedulerMetrics].flatMap(text =>
        [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name),
      ),
    )
    const missing = [...new Set([...panelMetrics, ...alertMetrics])].filter(name => !present.has(name))
    assert.deepEqual(missing, [])
  })

  const values: [title: string, process: 'operatorMetrics' | 'schedulerMetrics', line: RegExp][] = [
    ['sets by state', 'operatorMetrics', /^grove_podcliquesets\{state="available"\} 1$/m],
    ['no set in another state', 'operatorMetrics', /^grove_podcliquesets\{state="failing"\} 0$/m],
    ['replicas', 'operatorMetrics', /^grove_podcliqueset_replicas\{state="available"\} 1$/m],
    ['gangs by state', 'operatorMetrics', /^grove_podgangs\{state="running"\} 1$/m],
    ['pods by state', 'operatorMetrics', /^grove_pods\{state="ready"\} 3$/m],
    [
      'startup',
      'operatorMetrics',
      /^grove_podcliqueset_startup_seconds_count\{milestone="ready",size="1-9"\} 1$/m,
    ],
    ['updates that started', 'operatorMetrics', /^grove_updates_started_total 1$/m],
    ['duration of updates', 'operatorMetrics', /^grove_update_duration_seconds_count\{size="1-9"\} 1$/m],
    [
      'pods replaced by the update',
      'operatorMetrics',
      /^grove_pod_replacements_total\{reason="outdated"\} 3$/m,
    ],
    [
      'pods replaced after a failure',
      'operatorMetrics',
      /^grove_pod_replacements_total\{reason="finished"\} 1$/m,
    ],
    ['staleness of a cache', 'operatorMetrics', /^watch_cache_staleness_seconds\{resource="pods"\} /m],
    [
      'requests by resource',
      'operatorMetrics',
      /^rest_client_resource_requests_total\{verb="create",resource="pods",code="201"\} /m,
    ],
    [
      'rejections by rule',
      'operatorMetrics',
      /^webhook_rejections_total\{webhook="\/webhooks\/validate-podcliqueset",rule="Invalid value spec\.template\.cliques\[\]\.spec\.minAvailable"\} 1$/m,
    ],
    [
      'decisions',
      'schedulerMetrics',
      /^grove_scheduler_decisions_total\{verdict="Scheduled",provenance="proved"\} /m,
    ],
    ['time to decide', 'schedulerMetrics', /^grove_scheduler_decision_duration_seconds_count [1-9]/m],
    ['bindings', 'schedulerMetrics', /^grove_scheduler_bindings_total\{part="minimum"\} [1-9]/m],
    [
      'objects in a cache of the scheduler',
      'schedulerMetrics',
      /^watch_cache_objects\{resource="nodes"\} 2$/m,
    ],
  ]
  for (const [title, process, line] of values)
    test(`count ${title}`, () => {
      const name = /\^(\w+)/.exec(line.source)?.[1] ?? ''
      const found = monitored[process]
        .split('\n')
        .filter(text => text.startsWith(name) && !text.includes('_bucket'))
      assert.match(monitored[process], line, found.join('\n'))
    })

  test('have no label with the name of an object', () => {
    const own = monitored.operatorMetrics.split('\n').filter(line => line.startsWith('grove_'))
    assert.ok(own.length > 20)
    for (const line of own) assert.doesNotMatch(line, /llm|worker/)
  })

  test('log one line per decision, with the object and the reconcile', () => {
    const object = ['kind', 'namespace', 'name', 'uid']
    const messages = {
      'Replaced pods': [...object, 'reconcileID'],
      // The watch can show the status before the response to the reconcile that wrote it.
      'Update started': object,
      'Update finished': object,
    }
    for (const [message, fields] of Object.entries(messages)) {
      const lines = monitored.operatorLog.filter(({ msg }) => msg === message)
      assert.ok(lines.length > 0, message)
      for (const line of lines)
        for (const field of fields)
          assert.equal(typeof line[field], 'string', `${field} of ${JSON.stringify(line)}`)
    }
    assert.equal(monitored.operatorLog.filter(({ msg }) => msg === 'Update started').length, 1)
    assert.equal(monitored.operatorLog.filter(({ msg }) => msg === 'Update finished').length, 1)
  })

  test('log nothing for a reconcile without a decision', () => {
    const reconciles = Number(
      /^controller_runtime_reconcile_total\{controller="podclique",result="success"\} (\d+)$/m.exec(
        monitored.operatorMetrics,
      )?.[1],
    )
    const lines = monitored.operatorLog.filter(({ reconcileID }) => reconcileID !== undefined)
    assert.ok(reconciles > 10)
    assert.ok(lines.length < 15, JSON.stringify(lines, undefined, 2))
  })
})
