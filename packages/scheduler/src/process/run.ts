// SPDX-License-Identifier: Apache-2.0

// Runs the gang scheduler as a process: probes, metrics, leader election, the scheduling loop.
import {
  cacheMetrics,
  createClient,
  createClientOn,
  createRegistry,
  createTransport,
  discover,
  EventRecorder,
  eventSink,
  FencedTransport,
  LeaseElector,
  type Logger,
  leaseClient,
  loadConfig,
  Manager,
  requestMetrics,
  resourceName,
  systemClock,
} from '@grove/kube'
import { SchedulerCaches } from '../binder/caches.ts'
import { GangScheduler } from '../binder/gang-scheduler.ts'
import { recordedGangEvents } from '../binder/recorded-events.ts'
import { plan } from '../plan.ts'
import { ShadowScheduler } from '../shadow/shadow-scheduler.ts'
import { CapacityMetrics } from './capacity-metrics.ts'
import type { SchedulerConfiguration } from './configuration.ts'
import { decisionMetrics, rejectionMetrics, shadowMetrics } from './metrics.ts'
import { timedPlan } from './timed-plan.ts'

/** When the process stops, pending events are written for this long. */
const lastEventsMs = 2_000
const clock = systemClock

export interface RunOptions {
  readonly configuration: SchedulerConfiguration
  readonly namespace: string
  readonly log: Logger
  readonly stop: AbortSignal
  readonly dryRun: boolean
}

export async function runScheduler({
  configuration,
  namespace,
  log,
  stop,
  dryRun,
}: RunOptions): Promise<void> {
  const cluster = loadConfig()
  const registry = createRegistry()
  const onRequest = requestMetrics(registry, cluster.server)
  const options = { userAgent: 'grove-scheduler', managedFields: false, onRequest }
  const client = createClient(cluster, options)
  try {
    const served = new Set((await discover(client)).map(resourceName))
    const { leaderElection, metrics, healthProbes } = configuration
    const lease = {
      namespace: leaderElection.resourceNamespace || namespace,
      name: leaderElection.resourceName,
    }
    // A dry run writes nothing, not even the lease, and runs alongside the active scheduler.
    const election =
      leaderElection.enabled && !dryRun
        ? new LeaseElector({
            ...lease,
            client: leaseClient(client, lease),
            clock,
            log,
            registry,
            times: {
              leaseDurationMs: leaderElection.leaseDuration,
              renewDeadlineMs: leaderElection.renewDeadline,
              retryPeriodMs: leaderElection.retryPeriod,
            },
          })
        : undefined
    const manager = new Manager({
      clock,
      log,
      registry,
      ...(election && { election }),
      probes: endpoint(healthProbes),
      metrics: endpoint(metrics),
    })
    manager.addHealthCheck('healthz', () => undefined)
    // The client sends no request after the process has lost the lease.
    const fenced = createClientOn(new FencedTransport(createTransport(cluster), manager.leadership), {
      ...options,
      ...(cluster.credentials && { credentials: cluster.credentials }),
    })
    const caches = new SchedulerCaches(fenced, {
      clock,
      serves: resource => served.has(resourceName(resource)),
      onFailure: (resource, error, retryInMs) =>
        log.error('Watch failed, retrying', { resource, error, retryInMs: Math.round(retryInMs) }),
    })
    const recorder = new EventRecorder({ sink: eventSink(client), clock, log, registry })
    manager.addCache('caches', {
      run: async signal => void (await caches.run(signal)),
      waitForSync: signal => caches.waitForSync(signal),
    })
    const shared = {
      caches,
      clock,
      log,
      registry,
      plan: timedPlan(plan, registry, clock),
      policy: configuration.policy,
      schedulerName: configuration.schedulerName,
      onDecision: decisionMetrics(registry),
    }
    const scheduler = dryRun
      ? new ShadowScheduler({ ...shared, onReport: shadowMetrics(registry) })
      : new GangScheduler({
          ...shared,
          client: fenced,
          bindTimeoutMs: configuration.bindTimeoutMs,
          events: recordedGangEvents(recorder),
          onRejection: rejectionMetrics(registry, caches),
        })
    manager.addController('gang-scheduler', scheduler)
    cacheMetrics(registry, caches.observed)
    manager.addController(
      'capacity-metrics',
      new CapacityMetrics({
        registry,
        clock,
        log,
        policy: configuration.policy,
        schedulerName: configuration.schedulerName,
        objects: () => caches.objects(),
      }),
    )
    manager.addLastStep('events', () => recorder.stop(lastEventsMs))
    log.info('Scheduler starts', {
      schedulerName: configuration.schedulerName,
      dryRun,
      ...(election && { lease: `${lease.namespace}/${lease.name}` }),
    })
    await manager.run(stop)
  } finally {
    await client.close()
  }
}

function endpoint({ bindAddress, port }: { bindAddress: string; port: number }) {
  return { port, ...(bindAddress && { host: bindAddress }) }
}
