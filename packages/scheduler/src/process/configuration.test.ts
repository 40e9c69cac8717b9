// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readSchedulerConfiguration } from './configuration.ts'

const header = { apiVersion: 'scheduler.config.grove.io/v1alpha1', kind: 'SchedulerConfiguration' }

function problems(content: object): readonly string[] {
  const result = readSchedulerConfiguration({ ...header, ...content })
  return result.ok ? [] : result.problems
}

describe('the scheduler configuration', () => {
  test('has a default for every field', () => {
    const result = readSchedulerConfiguration(header)
    assert.ok(result.ok)
    assert.equal(result.configuration.schedulerName, 'grove-scheduler')
    assert.equal(result.configuration.bindTimeoutMs, 30_000)
    assert.equal(result.configuration.policy.preemption, 'Disabled')
    assert.equal(result.configuration.policy.reservation, undefined)
    assert.equal(result.configuration.leaderElection.enabled, true)
  })

  test('uses the values of a file', () => {
    const result = readSchedulerConfiguration({
      ...header,
      budget: { gang: 1000 },
      bindTimeout: '10s',
      leaderElection: { enabled: false },
      metrics: { port: 0 },
    })
    assert.ok(result.ok)
    const { policy, bindTimeoutMs, leaderElection, metrics } = result.configuration
    assert.deepEqual(
      [policy.replicaScope, policy.preemption, policy.reservation, policy.budget.gang],
      ['Prefer', 'Disabled', undefined, 1000],
    )
    assert.deepEqual([bindTimeoutMs, leaderElection.enabled, metrics.port], [10_000, false, 0])
  })

  test('reads the replica scope and a reservation', () => {
    const result = readSchedulerConfiguration({
      ...header,
      replicaScope: 'Require',
      reservation: { after: '5m' },
    })
    assert.ok(result.ok)
    const { replicaScope, reservation } = result.configuration.policy
    assert.deepEqual([replicaScope, reservation], ['Require', { afterSeconds: 300, maxNodesPercent: 25 }])
  })

  const mistakes: [title: string, content: object, expected: RegExp][] = [
    ['a wrong kind', { kind: 'OperatorConfiguration' }, /apiVersion and kind must be/],
    ['an unknown field', { preemtion: 'Enabled' }, /^preemtion: unknown field$/],
    ['an unknown field in a section', { budget: { gangs: 1 } }, /^budget.gangs: unknown field$/],
    [
      'a value that is not allowed',
      { preemption: 'on' },
      /^preemption: must be one of Disabled, Enabled, not "on"$/,
    ],
    [
      'a percentage above 100',
      { reservation: { maxNodesPercent: 250 } },
      /^reservation.maxNodesPercent: must be from 1 to 100, not 250$/,
    ],
    ['a wrong type', { budget: { gang: 'many' } }, /^budget.gang: must be an integer/],
    ['a port that does not exist', { metrics: { port: 70_000 } }, /^metrics.port: must be from 0 to 65535/],
    ['a negative port', { healthProbes: { port: -1 } }, /^healthProbes.port: must be from 0 to 65535/],
    ['a negative time', { bindTimeout: '-5s' }, /^bindTimeout: must be greater than 0$/],
    ['a negative budget', { budget: { cycle: -5 } }, /^budget.cycle: must be greater than 0$/],
    [
      'a reservation in the past',
      { reservation: { after: '-1s' } },
      /^reservation.after: must be greater than 0$/,
    ],
    [
      'a lease that ends before its renewal',
      { leaderElection: { leaseDuration: '5s' } },
      /^leaderElection.leaseDuration: must be greater than renewDeadline$/,
    ],
    [
      'a lease without time for a second attempt',
      { leaderElection: { retryPeriod: '9s' } },
      /^leaderElection.renewDeadline: must be greater than 1.2 × retryPeriod$/,
    ],
    [
      'a negative lease',
      { leaderElection: { leaseDuration: '-1s' } },
      /^leaderElection.leaseDuration: must be greater than 0$/,
    ],
    ['a duration without a unit', { bindTimeout: 'soon' }, /^bindTimeout: /],
  ]
  for (const [title, content, expected] of mistakes)
    test(`rejects ${title} and names the field`, () => {
      assert.match(problems(content).join('\n'), expected)
    })

  test('reports all problems at once', () => {
    assert.equal(problems({ one: 1, two: 2, preemption: 'on' }).length, 3)
  })
})
