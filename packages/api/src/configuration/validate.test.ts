// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dns1123Subdomain, renderFieldError } from '@grove/apimachinery'
import { scheduler } from '../schedulers.ts'
import { defaultConfiguration, loadConfiguration } from './load.ts'
import type { OperatorConfiguration } from './operator-configuration.ts'
import { validateConfiguration } from './validate.ts'

const header = { apiVersion: 'operator.config.grove.io/v1alpha1', kind: 'OperatorConfiguration' }

function errorsOf(content: object): string[] {
  const result = loadConfiguration({ ...header, ...content })
  return result.outcome === 'invalid' ? result.errors.map(renderFieldError) : [result.outcome]
}

const supported =
  'supported values: "kai-scheduler", "default-scheduler", "volcano", "lpx-scheduler", "grove-scheduler", "kubernetes"'

test('a blank choice counts as absent', () => {
  const result = loadConfiguration({
    ...header,
    logLevel: ' ',
    logFormat: ' ',
    gangTermination: { onTotalLoss: ' ' },
    startupWaiter: { imagePullPolicy: ' ' },
  })
  assert.ok(result.outcome === 'loaded')
  assert.deepEqual(result.configuration, defaultConfiguration())
})

describe('mistakes', () => {
  const cases: [title: string, content: object, expected: string[]][] = [
    [
      'a scheduler that does not exist',
      { scheduler: { profiles: [{ name: 'elsewhere' }], defaultProfileName: 'elsewhere' } },
      [
        `scheduler.profiles[0].name: Unsupported value: "elsewhere": ${supported}`,
        'scheduler.defaultProfileName: Invalid value: "elsewhere": default profile must be one of the configured profiles',
      ],
    ],
    [
      'every scheduler that exists',
      { scheduler: { profiles: Object.values(scheduler).map(name => ({ name })) } },
      ['loaded'],
    ],
    [
      'log level',
      { logLevel: 'trace' },
      ['logLevel: Unsupported value: "trace": supported values: "debug", "info", "error"'],
    ],
    [
      'cluster domain',
      { network: { clusterDomain: 'Not A Domain' } },
      [
        `network.clusterDomain: Invalid value: "Not A Domain": ${dns1123Subdomain('Not A Domain').join('; ')}`,
      ],
    ],
    [
      'startup waiter',
      { startupWaiter: { imagePullPolicy: 'Sometimes', resources: { limits: { cpu: 'much' } } } },
      [
        'startupWaiter.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
        'startupWaiter.resources.limits.cpu: Invalid value: "much": quantities must match the regular expression \'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$\'',
      ],
    ],
    ['blank log level', { logLevel: ' ' }, ['loaded']],
    [
      'log format',
      { logFormat: 'xml' },
      ['logFormat: Unsupported value: "xml": supported values: "json", "text"'],
    ],
    [
      'profile without a name, unknown, or twice',
      { scheduler: { profiles: [{ name: ' ' }, { name: 'x' }, { name: 'volcano' }, { name: 'volcano' }] } },
      [
        'scheduler.profiles[0].name: Required value: scheduler profile name is required',
        `scheduler.profiles[1].name: Unsupported value: "x": ${supported}`,
        'scheduler.profiles[3].name: Duplicate value: "volcano"',
      ],
    ],
    [
      'blank default profile',
      { scheduler: { profiles: [{ name: 'volcano' }], defaultProfileName: ' ' } },
      ['scheduler.defaultProfileName: Required value: default scheduler profile name is required'],
    ],
    [
      'default profile that is not enabled',
      { scheduler: { profiles: [{ name: 'volcano' }], defaultProfileName: 'kai-scheduler' } },
      [
        'scheduler.defaultProfileName: Invalid value: "kai-scheduler": default profile must be one of the configured profiles',
      ],
    ],
    [
      'default profile that is listed, but unknown',
      { scheduler: { profiles: [{ name: 'x' }], defaultProfileName: 'x' } },
      [
        `scheduler.profiles[0].name: Unsupported value: "x": ${supported}`,
        'scheduler.defaultProfileName: Invalid value: "x": default profile must be one of the configured profiles',
      ],
    ],
    [
      'negative durations of the leader election',
      { leaderElection: { enabled: true, leaseDuration: '-1s', renewDeadline: '-2s', retryPeriod: '-1m' } },
      [
        'leaderElection.leaseDuration: Invalid value: "-1s": must be greater than 0',
        'leaderElection.renewDeadline: Invalid value: "-2s": must be greater than 0',
        'leaderElection.retryPeriod: Invalid value: "-1m0s": must be greater than 0',
      ],
    ],
    [
      'a lease that ends before it must be renewed; the deadline is shown',
      { leaderElection: { enabled: true, leaseDuration: '10s', renewDeadline: '10s' } },
      [
        'leaderElection.leaseDuration: Invalid value: "10s": LeaseDuration must be greater than RenewDeadline',
      ],
    ],
    [
      'no second attempt before the deadline',
      {
        leaderElection: {
          enabled: true,
          leaseDuration: '2500ms',
          renewDeadline: '2s',
          retryPeriod: '1900ms',
        },
      },
      ['leaderElection.renewDeadline: Invalid value: "2s": must be greater than 1.2 × retryPeriod'],
    ],
    [
      'a lock of another kind',
      { leaderElection: { enabled: true, resourceLock: 'endpoints' } },
      ['leaderElection.resourceLock: Unsupported value: "endpoints": supported values: "leases"'],
    ],
    [
      'resources of the startup waiter that are no map, or negative',
      { startupWaiter: { resources: { requests: ['1'], limits: { cpu: -1 } } } },
      [
        'startupWaiter.resources.requests: Invalid value: ["1"]: must be an object',
        'startupWaiter.resources.limits.cpu: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    ['a disabled leader election', { leaderElection: { leaseDuration: '-1s' } }, ['loaded']],
    [
      'a lease that ends within a second',
      { leaderElection: { enabled: true, leaseDuration: '15500ms' } },
      ['loaded'],
    ],
    [
      'a negative burst, under another path',
      { runtimeClientConnection: { burst: -1 } },
      ['clientConnection.burst: Invalid value: -1: must be non-negative'],
    ],
    [
      'limits below one',
      { limits: { podCliqueSetReplicas: -1, podsPerPodCliqueSet: -5 } },
      [
        'limits.podCliqueSetReplicas: Invalid value: -1: must be greater than 0',
        'limits.podsPerPodCliqueSet: Invalid value: -5: must be greater than 0',
      ],
    ],
    [
      'no concurrency at all',
      {
        controllers: {
          podGang: { concurrentSyncs: -1 },
          podClique: { concurrentSyncs: 0 },
          podCliqueScalingGroup: { concurrentSyncs: 0 },
          podCliqueSet: { concurrentSyncs: 0 },
        },
      },
      [
        'controllers.podCliqueSet.concurrentSyncs: Invalid value: 0: must be greater than 0',
        'controllers.podCliqueScalingGroup.concurrentSyncs: Invalid value: 0: must be greater than 0',
        'controllers.podClique.concurrentSyncs: Invalid value: 0: must be greater than 0',
        'controllers.podGang.concurrentSyncs: Invalid value: -1: must be greater than 0',
      ],
    ],
    [
      'an unknown certificate mode',
      { server: { webhooks: { certProvisionMode: 'magic' } } },
      ['server.webhooks.certProvisionMode: Invalid value: "magic": unsupported cert provision mode: "magic"'],
    ],
    [
      'a Service that cannot exist',
      { server: { webhooks: { serviceName: 'grove.hooks' } } },
      ['server.webhooks.serviceName: Invalid value: "grove.hooks": must not contain dots'],
    ],
    [
      'ports out of range',
      {
        server: { webhooks: { port: -1 }, healthProbes: { port: 65536 }, metrics: { port: 65535 } },
        debugging: { pprofBindPort: 1e6 },
      },
      [
        'server.webhooks.port: Invalid value: -1: must be between 1 and 65535, inclusive',
        'server.healthProbes.port: Invalid value: 65536: must be between 1 and 65535, inclusive',
        'debugging.pprofBindPort: Invalid value: 1000000: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      'an unknown policy for total loss',
      { gangTermination: { onTotalLoss: 'Panic' } },
      ['gangTermination.onTotalLoss: Unsupported value: "Panic": supported values: "Wait", "Recreate"'],
    ],
  ]
  for (const [title, content, expected] of cases) {
    test(title, () => {
      assert.deepEqual(errorsOf(content), expected)
    })
  }

  test('of a configuration that was not loaded from a file', () => {
    const bare: OperatorConfiguration = {
      ...defaultConfiguration(),
      scheduler: { profiles: [], defaultProfileName: '' },
      leaderElection: {
        ...defaultConfiguration().leaderElection,
        enabled: true,
        resourceLock: '',
        resourceName: '',
      },
    }
    assert.deepEqual(validateConfiguration(bare).map(renderFieldError), [
      'scheduler.profiles: Required value: at least one scheduler profile is required',
      'scheduler.profiles: Required value: the "default-scheduler" scheduler profile is required',
      'scheduler.defaultProfileName: Required value: default scheduler profile name is required',
      'leaderElection.resourceLock: Required value: resourceLock is required',
      'leaderElection.resourceName: Required value: resourceName is required',
    ])
  })
})
