// SPDX-License-Identifier: Apache-2.0

// Tests alerts and metrics with promtool of Prometheus. Needs Go to build promtool, but no cluster.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildHelm, buildPromtool, type Promtool } from '@grove/test-kubernetes'
import { type Alert, alertsFile, readAlerts } from '../../../tools/packaging/alerts.ts'
import { type AlertCase, alertCases } from './alert-cases.ts'
import { monitoredProcesses } from './monitored-processes.ts'
import { at, named, renderedObjects } from './rendered-chart.ts'

describe('promtool', () => {
  let promtool: Promtool
  let folder: string

  before(async () => {
    promtool = await buildPromtool()
    folder = mkdtempSync(join(tmpdir(), 'grove-promtool-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('accepts the rules file', () => {
    const { code, stderr } = promtool.run(['check', 'rules', '--lint-fatal', alertsFile])
    assert.equal(code, 0, stderr)
  })

  test('accepts the rules of the chart, which are those of the file', async () => {
    const objects = await renderedObjects(await buildHelm(), {
      values: { metrics: { prometheusRule: { enabled: true } }, gangScheduler: { enabled: true } },
    })
    const spec = at(named(objects, 'PrometheusRule'), 'spec') as { groups: { rules: readonly Alert[] }[] }
    assert.deepEqual(
      spec.groups.flatMap(({ rules }) => rules),
      readAlerts(),
    )
    const file = join(folder, 'chart.json')
    writeFileSync(file, JSON.stringify(spec))
    const { code, stderr } = promtool.run(['check', 'rules', '--lint-fatal', file])
    assert.equal(code, 0, stderr)
  })

  test('every alert has a case that fires it', () => {
    const tested = new Set(alertCases.map(({ alert }) => alert))
    assert.deepEqual(
      readAlerts()
        .map(({ alert }) => alert)
        .filter(alert => !tested.has(alert)),
      [],
    )
  })

  for (const each of alertCases)
    test(`${each.alert} fires for ${Object.keys(each.broken)[0]}, and not without the problem`, () => {
      const { code, stdout, stderr } = run(each)
      assert.equal(code, 0, stdout + stderr)
    })

  test('reports an alert that does not fire, so the tests above can fail', () => {
    const [first] = alertCases
    const { code, stdout, stderr } = run({ ...first!, broken: first!.healthy })
    assert.equal(code, 1, stdout + stderr)
  })

  test('accepts the metrics of the operator and of the scheduler', async () => {
    const { operatorMetrics, schedulerMetrics } = await monitoredProcesses()
    for (const text of [operatorMetrics, schedulerMetrics]) {
      const { code, stdout, stderr } = promtool.run(['check', 'metrics'], text)
      const findings = `${stdout}${stderr}`.split('\n').filter(line => line && !isAccepted(line))
      assert.deepEqual(findings, [], `exit code ${code}`)
    }
  })

  function run({ alert, broken, healthy, after, labels }: AlertCase) {
    const rule = readAlerts().find(each => each.alert === alert)
    assert.ok(rule, `there is no alert ${alert}`)
    const annotations = Object.fromEntries(
      Object.entries(rule.annotations).map(([key, text]) => [
        key,
        text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels?.[name] ?? ''),
      ]),
    )
    const series = (values: Readonly<Record<string, string>>) =>
      Object.entries(values).map(([name, samples]) => ({ series: name, values: samples }))
    const fired = { exp_labels: { ...rule.labels, ...labels }, exp_annotations: annotations }
    const document = {
      rule_files: [alertsFile],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: series(broken),
          alert_rule_test: [{ eval_time: after, alertname: alert, exp_alerts: [fired] }],
        },
        {
          interval: '1m',
          input_series: series(healthy),
          alert_rule_test: [{ eval_time: after, alertname: alert, exp_alerts: [] }],
        },
      ],
    }
    const file = join(folder, 'alert.json')
    writeFileSync(file, JSON.stringify(document))
    return promtool.run(['test', 'rules', file])
  }
})

/** Gauges that the Prometheus client library for Node names like counters. */
function isAccepted(finding: string): boolean {
  return /^nodejs_active_(handles|requests|resources)_total /.test(finding)
}
