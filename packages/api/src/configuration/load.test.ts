// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { defaultConfiguration, loadConfiguration } from './load.ts'
import type { OperatorConfiguration } from './operator-configuration.ts'
import { defaultScheduler, enabledSchedulers, topologyAwareSchedulers } from './schedulers.ts'

const header = { apiVersion: 'operator.config.grove.io/v1alpha1', kind: 'OperatorConfiguration' }

function loaded(content: object): OperatorConfiguration {
  const result = loadConfiguration({ ...header, ...content })
  assert.equal(result.outcome, 'loaded', JSON.stringify(result))
  return (result as { configuration: OperatorConfiguration }).configuration
}

describe('defaults', () => {
  test('of all fields', () => {
    assert.deepEqual(loaded({}), {
      runtimeClientConnection: { qps: 100, burst: 120, contentType: '', acceptContentTypes: '' },
      leaderElection: {
        enabled: false,
        leaseDuration: 15_000,
        renewDeadline: 10_000,
        retryPeriod: 2_000,
        resourceLock: 'leases',
        resourceName: 'grove-operator-leader-election',
        resourceNamespace: '',
      },
      server: {
        webhooks: {
          enabled: true,
          bindAddress: '',
          port: 2750,
          serviceName: 'grove-operator',
          serverCertDir: '/etc/grove-operator/webhook-certs',
          secretName: 'grove-webhook-server-cert',
          certProvisionMode: 'auto',
        },
        healthProbes: { bindAddress: '', port: 2751 },
        metrics: { secure: false, bindAddress: '', port: 2752 },
      },
      controllers: {
        podCliqueSet: { concurrentSyncs: 10 },
        podClique: { concurrentSyncs: 10 },
        podCliqueScalingGroup: { concurrentSyncs: 5 },
        podGang: { concurrentSyncs: 5 },
      },
      logLevel: 'info',
      logFormat: 'json',
      authorizer: {
        enabled: false,
        exemptServiceAccountUserNames: [],
        reconcilerServiceAccountUserName: '',
      },
      topologyAwareScheduling: { enabled: false },
      placementWarnings: { enabled: false },
      network: { autoMNNVLEnabled: false, clusterDomain: 'cluster.local' },
      scheduler: { profiles: [{ name: 'default-scheduler' }], defaultProfileName: 'default-scheduler' },
      gangTermination: { onTotalLoss: 'Wait' },
      resourceSharing: { allowedTemplateNamespaces: ['*'] },
      revisionHistory: { limit: 10 },
      limits: {
        podCliqueSetReplicas: 10_000,
        scalingGroupReplicas: 10_000,
        podCliqueReplicas: 10_000,
        podsPerPodCliqueSet: 150_000,
      },
      startupWaiter: { image: '', imagePullPolicy: '', imagePullSecrets: [] },
    })
    assert.deepEqual(defaultConfiguration(), loaded({}))
  })

  test('webhooks can be disabled, and metrics secured', () => {
    const { server } = loaded({
      server: { webhooks: { enabled: false }, metrics: { secure: true, port: 9445 } },
    })
    assert.equal(server.webhooks.enabled, false)
    assert.deepEqual(server.metrics, { secure: true, bindAddress: '', port: 9445 })
  })

  test('zero and null count as absent', () => {
    const content = {
      runtimeClientConnection: { qps: 0, burst: 0 },
      leaderElection: { leaseDuration: '0s', renewDeadline: null },
      server: { webhooks: { port: 0 }, metrics: null },
      logLevel: '',
    }
    assert.deepEqual(loaded(content), loaded({}))
  })

  test('profiling has defaults only if it is configured', () => {
    assert.deepEqual(loaded({ debugging: {} }).debugging, {
      enableProfiling: false,
      pprofBindHost: '127.0.0.1',
      pprofBindPort: 2753,
    })
  })
})

test('requests are limited only if the file sets another rate than the default', () => {
  const limit = (section: object) =>
    loaded({ runtimeClientConnection: section }).runtimeClientConnection.rateLimit
  assert.equal(limit({}), undefined)
  assert.equal(limit({ qps: -1 }), undefined)
  assert.equal(limit({ qps: 100, burst: 150 }), undefined)
  assert.equal(limit({ qps: 100 }), undefined)
  assert.deepEqual(limit({ qps: 50 }), { qps: 50, burst: 120 })
  assert.deepEqual(limit({ burst: 5 }), { qps: 100, burst: 5 })
})

test('an empty list of template namespaces forbids all of them', () => {
  const { resourceSharing } = loaded({ resourceSharing: { allowedTemplateNamespaces: [] } })
  assert.deepEqual(resourceSharing.allowedTemplateNamespaces, [])
})

test('values in the file are used', () => {
  const configuration = loaded({
    runtimeClientConnection: { qps: 12.5, burst: 7 },
    leaderElection: { enabled: true, leaseDuration: '1m', renewDeadline: '1.5s', retryPeriod: '500ms' },
    scheduler: {
      defaultProfileName: 'kai-scheduler',
      profiles: [{ name: 'default-scheduler', config: { gangScheduling: true } }, { name: 'kai-scheduler' }],
    },
    authorizer: {
      enabled: true,
      exemptServiceAccountUserNames: ['a', 'b'],
      reconcilerServiceAccountUserName: 'c',
    },
    gangTermination: { onTotalLoss: 'Recreate' },
    resourceSharing: { allowedTemplateNamespaces: ['shared'] },
    network: { clusterDomain: 'site.example' },
    limits: { podCliqueReplicas: 64 },
    startupWaiter: {
      image: 'registry.example/waiter:3',
      imagePullPolicy: 'Always',
      imagePullSecrets: ['pull'],
      resources: { limits: { cpu: '1' } },
    },
  })
  assert.equal(configuration.runtimeClientConnection.qps, 12.5)
  assert.deepEqual(configuration.runtimeClientConnection.rateLimit, { qps: 12.5, burst: 7 })
  assert.equal(configuration.leaderElection.leaseDuration, 60_000)
  assert.equal(configuration.leaderElection.renewDeadline, 1_500)
  assert.equal(configuration.leaderElection.retryPeriod, 500)
  assert.deepEqual(configuration.scheduler.profiles, [
    { name: 'default-scheduler', config: { gangScheduling: true } },
    { name: 'kai-scheduler' },
  ])
  assert.deepEqual(configuration.authorizer.exemptServiceAccountUserNames, ['a', 'b'])
  assert.equal(configuration.gangTermination.onTotalLoss, 'Recreate')
  assert.deepEqual(configuration.resourceSharing.allowedTemplateNamespaces, ['shared'])
  assert.equal(configuration.network.clusterDomain, 'site.example')
  assert.deepEqual(configuration.limits, {
    podCliqueSetReplicas: 10_000,
    scalingGroupReplicas: 10_000,
    podCliqueReplicas: 64,
    podsPerPodCliqueSet: 150_000,
  })
  assert.deepEqual(configuration.startupWaiter, {
    image: 'registry.example/waiter:3',
    imagePullPolicy: 'Always',
    imagePullSecrets: ['pull'],
    resources: { limits: { cpu: '1' } },
  })
})

describe('scheduler profiles', () => {
  const schedulerOf = (scheduler: object): OperatorConfiguration['scheduler'] =>
    loaded({ scheduler }).scheduler

  test('without any, default-scheduler is the default, whatever the file names', () => {
    assert.deepEqual(schedulerOf({ defaultProfileName: 'kai-scheduler', profiles: [] }), {
      profiles: [{ name: 'default-scheduler' }],
      defaultProfileName: 'default-scheduler',
    })
  })

  test('default-scheduler is added at the end', () => {
    assert.deepEqual(schedulerOf({ profiles: [{ name: 'volcano' }] }), {
      profiles: [{ name: 'volcano' }, { name: 'default-scheduler' }],
      defaultProfileName: 'default-scheduler',
    })
  })

  test('all backends are supported', () => {
    const names = ['kai-scheduler', 'volcano', 'lpx-scheduler', 'default-scheduler']
    const configuration = loaded({
      scheduler: { defaultProfileName: 'lpx-scheduler', profiles: names.map(name => ({ name })) },
    })
    assert.deepEqual([...enabledSchedulers(configuration)], names)
    assert.equal(defaultScheduler(configuration), 'lpx-scheduler')
    assert.deepEqual([...topologyAwareSchedulers(configuration)], ['kai-scheduler'])
    assert.deepEqual([...topologyAwareSchedulers(loaded({}))], [])
  })
})

describe('an invalid document', () => {
  const messageOf = (document: unknown): string => {
    const result = loadConfiguration(document)
    return result.outcome === 'undecodable' ? result.message : result.outcome
  }

  test('has another kind or version', () => {
    const expected =
      'apiVersion operator.config.grove.io/v1alpha1 and kind OperatorConfiguration expected, not'
    assert.equal(messageOf({}), `${expected} nothing and nothing`)
    assert.equal(
      messageOf({ ...header, kind: 'Pod' }),
      `${expected} "operator.config.grove.io/v1alpha1" and "Pod"`,
    )
    assert.equal(
      messageOf({ ...header, apiVersion: 3 }),
      `${expected} a value of type number and "OperatorConfiguration"`,
    )
  })

  test('is not an object', () => {
    for (const document of [undefined, null, 'x', 3, []]) {
      assert.equal(messageOf(document), 'the configuration must be an object')
    }
  })

  test('has values of a wrong type, which are all reported', () => {
    assert.equal(
      messageOf({
        ...header,
        server: { webhooks: { port: '9443' }, metrics: [] },
        leaderElection: { enabled: 'yes', leaseDuration: 15, renewDeadline: '10' },
        scheduler: { profiles: [{ name: 3, config: 'x' }, 'volcano'] },
        controllers: { podClique: { concurrentSyncs: 1.5 } },
      }),
      [
        'leaderElection.enabled: must be true or false, not "yes"',
        'leaderElection.leaseDuration: must be a duration such as 15s, not 15',
        'leaderElection.renewDeadline: time: missing unit in duration "10"',
        'server.webhooks.port: must be an integer, not "9443"',
        'server.metrics: must be an object, not a list',
        'controllers.podClique.concurrentSyncs: must be an integer, not 1.5',
        'scheduler.profiles[1]: must be an object, not "volcano"',
        'scheduler.profiles[0].config: must be an object, not "x"',
        'scheduler.profiles[0].name: must be a text, not 3',
      ].join('; '),
    )
  })
})

test('unknown keys are reported with their path', () => {
  const result = loadConfiguration({
    ...header,
    logLevle: 'debug',
    server: { healthProbes: { enable: true } },
    scheduler: { profiles: [{ name: 'volcano', config: { anything: true }, configs: {} }] },
    authorizer: { reconcilerServiceAccountUserName: 'x' },
  })
  assert.equal(result.outcome, 'loaded')
  assert.deepEqual((result as { warnings: readonly string[] }).warnings, [
    'unknown key server.healthProbes.enable is ignored',
    'unknown key scheduler.profiles[0].configs is ignored',
    'unknown key logLevle is ignored',
  ])
})

test('every document gets a result', () => {
  const keys = fc.constantFrom(...Object.keys(defaultConfiguration()), 'x', '__proto__')
  const values = fc.json().map(text => JSON.parse(text) as unknown)
  const sections = fc.dictionary(
    keys,
    fc.oneof(values, fc.dictionary(fc.constantFrom('enabled', 'port', 'profiles', 'webhooks'), values)),
  )
  fc.assert(
    fc.property(fc.oneof(values, sections), document => {
      const content = typeof document === 'object' ? document : {}
      for (const one of [document, { ...content, ...header }]) {
        assert.ok(['loaded', 'undecodable', 'invalid'].includes(loadConfiguration(one).outcome))
      }
    }),
    { numRuns: 1000 },
  )
})
