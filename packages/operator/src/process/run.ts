// SPDX-License-Identifier: Apache-2.0

// Runs the operator as a process: probes, metrics, webhooks, leader election, controllers.
import { flushCompileCache } from 'node:module'
import { type OperatorConfiguration, operatorEnvironment } from '@grove/api'
import {
  type Client,
  type ClientOptions,
  type ClusterConfig,
  createClient,
  createClientOn,
  createRegistry,
  createTransport,
  EventRecorder,
  eventSink,
  FencedTransport,
  LeaseElector,
  type Logger,
  leaseClient,
  loadConfig,
  Manager,
  messageOf,
  type Registry,
  type RootLogger,
  requestMetrics,
  reviewedAccess,
  reviewerOf,
  systemClock,
} from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { optionalKinds } from '../caches/optional-kinds.ts'
import { lastEventsMs, webhookDrainMs } from '../timings/timings.ts'
import { servedCertificates } from './certificates.ts'
import { recordedEvents } from './event-records.ts'
import { exitCode, LaunchError } from './exit-code.ts'
import { checkMnnvl } from './mnnvl-check.ts'
import { checkNativeGangs } from './native-gangs-check.ts'
import { ownNamespace } from './own-namespace.ts'
import { createOperator, type Watches } from './start-operator.ts'
import { version } from './version.ts'
import { checkVolcano } from './volcano-check.ts'
import { addWebhooks } from './webhooks.ts'

const clock = systemClock

type RequestObserver = ReturnType<typeof requestMetrics>

export async function runOperator(
  configuration: OperatorConfiguration,
  log: RootLogger,
  stop: AbortSignal,
): Promise<void> {
  const cluster = findCluster()
  const registry = createRegistry()
  const onRequest = observedRequests(requestMetrics(registry, cluster.server), log)
  const client = createClient(cluster, { ...clientOptions(configuration), onRequest })
  try {
    await checkMnnvl(client, configuration)
    await checkVolcano(client, configuration)
    await checkNativeGangs(client, configuration)
    const watches = await optionalKinds(client, configuration, log)
    const manager = setUp(() =>
      assemble({ cluster, client, configuration, watches, log, registry, onRequest }),
    )
    await manager.run(stop)
  } catch (error) {
    throw error instanceof LaunchError ? error : new LaunchError(exitCode.running, messageOf(error))
  } finally {
    await client.close()
  }
}

interface Parts {
  readonly cluster: ClusterConfig
  readonly client: Client
  readonly configuration: OperatorConfiguration
  readonly watches: Watches
  readonly log: RootLogger
  readonly registry: Registry
  readonly onRequest: RequestObserver
}

function assemble(parts: Parts): Manager {
  const { client, configuration, log, registry } = parts
  const { server, debugging, leaderElection } = configuration
  const namespace = ownNamespace(configuration)
  const lease = {
    namespace: leaderElection.resourceNamespace || namespace,
    name: leaderElection.resourceName,
  }
  const election = leaderElection.enabled
    ? new LeaseElector({
        ...lease,
        client: leaseClient(client, lease),
        clock,
        log: log.child({ area: 'lease' }),
        registry,
        times: {
          leaseDurationMs: leaderElection.leaseDuration,
          renewDeadlineMs: leaderElection.renewDeadline,
          retryPeriodMs: leaderElection.retryPeriod,
        },
      })
    : undefined
  const servesTls = server.webhooks.enabled || server.metrics.secure
  log.info('Namespace of the Lease and the certificate Secret', {
    namespace,
    ...(election && { lease }),
    ...(servesTls &&
      server.webhooks.certProvisionMode === 'auto' && { secretName: server.webhooks.secretName }),
  })
  const certificates = servesTls
    ? servedCertificates({
        client,
        configuration,
        namespace,
        clock,
        log: log.child({ area: 'certificates' }),
        registry,
      })
    : undefined
  const manager = new Manager({
    clock,
    log,
    registry,
    ...(election && { election }),
    serverDrainMs: webhookDrainMs,
    probes: endpoint(server.healthProbes.bindAddress, server.healthProbes.port),
    metrics: {
      ...endpoint(server.metrics.bindAddress, server.metrics.port),
      ...(server.metrics.secure && {
        certificates: certificates?.source,
        access: reviewedAccess(reviewerOf(client), clock),
        logLevels: log.levels,
      }),
    },
    ...(debugging?.enableProfiling && {
      profiling: endpoint(debugging.pprofBindHost, debugging.pprofBindPort),
    }),
  })
  manager.addHealthCheck('healthz', () => undefined)
  certificates?.addTo(manager)
  if (server.webhooks.enabled && certificates)
    addWebhooks(manager, {
      client,
      configuration,
      namespace,
      certificates: certificates.source,
      clock,
      log: log.child({ area: 'admission' }),
    })
  addControllers(manager, parts)
  return manager
}

/** Counts requests, and logs them at debug. */
function observedRequests(count: RequestObserver, log: Logger): RequestObserver {
  const requests = log.child({ area: 'requests' })
  return report => {
    count(report)
    const { verb, path, status, code, seconds } = report
    requests.debug('Request', { verb, path, status, code, seconds })
  }
}

/** The operator does not read managedFields. Requests are limited only if the configuration sets a rate. */
function clientOptions({ runtimeClientConnection }: OperatorConfiguration): ClientOptions {
  const { rateLimit } = runtimeClientConnection
  return { userAgent: userAgent(), managedFields: false, ...(rateLimit && { rateLimit }) }
}

/** Controllers write through a fence: this process sends no write after it has lost its lease. */
function addControllers(manager: Manager, parts: Parts): void {
  const { cluster, client, configuration, watches, log, onRequest } = parts
  const fenced = createClientOn(new FencedTransport(createTransport(cluster), manager.leadership), {
    ...clientOptions(configuration),
    onRequest,
    ...(cluster.credentials && { credentials: cluster.credentials }),
  })
  const recorder = new EventRecorder({
    sink: eventSink(client),
    clock,
    log: log.child({ area: 'events' }),
    registry: manager.registry,
  })
  const image = process.env[operatorEnvironment.waiterImage]
  const { operator, caches } = createOperator(fenced, watches, {
    configuration,
    waiterImage: image && `${image}:${version.gitVersion}`,
    events: recordedEvents(recorder),
    clock,
    log,
    registry: manager.registry,
  })
  manager.addCache('caches', {
    run: async signal => void (await caches.run(signal)),
    waitForSync: signal => caches.waitForSync(signal),
  })
  manager.addController('operator', operator)
  manager.addBackground('compile cache', { run: signal => storeCompiledCode(caches, signal) })
  manager.addLastStep('events', () => recorder.stop(lastEventsMs))
}

/**
 * Stores compiled code now, and not only at a normal exit: a process that starts without it needs 25 MiB more for the
 * TypeScript compiler. Has no effect unless NODE_COMPILE_CACHE names a folder.
 */
async function storeCompiledCode(caches: Caches, signal: AbortSignal): Promise<void> {
  try {
    await caches.waitForSync(signal)
    flushCompileCache()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function findCluster(): ClusterConfig {
  try {
    return loadConfig()
  } catch (error) {
    throw new LaunchError(exitCode.arguments, messageOf(error))
  }
}

function setUp<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof LaunchError ? error : new LaunchError(exitCode.setUp, messageOf(error))
  }
}

function endpoint(host: string, port: number): { host?: string; port: number } {
  return { port, ...(host && { host }) }
}

function userAgent(): string {
  return `grove-operator/${version.gitVersion}`
}
