// SPDX-License-Identifier: Apache-2.0

// Runs a whole cluster in this process: API server over HTTPS, simulated nodes, scheduler, kubelets, and the operator.
import {
  customResourceDefinitions,
  enabledSchedulers,
  type OperatorConfiguration,
  operatorName,
  scheduler,
} from '@grove/api'
import {
  type Cluster,
  ContainerLogs,
  createCluster,
  type HttpsEndpoint,
  inProcessTransport,
  type NodePlan,
  type RunningControllers,
  SettableMetrics,
  serveHttps,
  serviceAccountUser,
  startControllers,
  type UserInfo,
} from '@grove/cluster'
import {
  type Client,
  createClientOn,
  createLogger,
  defineResource,
  EventRecorder,
  eventSink,
  isAlreadyExists,
  type KubeObject,
  type Logger,
  systemClock,
} from '@grove/kube'
import { type RunningOperator, recordedEvents, startOperator } from '@grove/operator'
import { recordedGangEvents, schedulerAccountName, startScheduler } from '@grove/scheduler'
import { CommandError } from '../../command-error.ts'
import { groveAdmission } from './admission-plugin.ts'
import { openDataDirectory } from './data-directory.ts'
import { grantOperator, grantScheduler, operatorNamespace } from './operator-rights.ts'
import { startupWaiter } from './startup-waiter.ts'

export interface LocalClusterOptions {
  readonly configuration: OperatorConfiguration
  /** Created in a new cluster. A cluster with data keeps its own nodes. */
  readonly nodes: readonly NodePlan[]
  /** Additional kinds that the cluster serves. */
  readonly definitions?: readonly KubeObject[]
  /** If absent, any free port. */
  readonly port?: number
  /** Folder of the persistent store. If absent, objects are kept in memory. */
  readonly dataDirectory?: string
}

export interface LocalCluster {
  readonly front: HttpsEndpoint
  readonly client: Client
  readonly controllers: RunningControllers
  readonly operator: RunningOperator
  readonly nodeCount: number
  stop(): Promise<void>
}

/** Time to send remaining events at shutdown. */
const lastEventsMs = 500

const definitions = defineResource<KubeObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const { configuration, dataDirectory } = options
  const log = createLogger({ level: 'error', format: 'text' })
  const logs = new ContainerLogs((pod, container) => [`${container} of ${pod.metadata?.name} is simulated`])
  const cluster = createCluster({
    authorization: 'rbac',
    serviceAccountAdmission: true,
    podMetrics: true,
    // Both packages declare their own type of the same objects.
    podLogs: (pod, container, options) =>
      logs.read(pod as Parameters<typeof logs.read>[0], container, options),
    ...(dataDirectory !== undefined && { store: openDataDirectory(dataDirectory) }),
  })
  const connect = (userAgent: string, user?: UserInfo) =>
    createClientOn(inProcessTransport(cluster.handle, user), { userAgent })
  const client = connect('grove')
  for (const definition of [...customResourceDefinitions, ...(options.definitions ?? [])])
    await createOnce(client, definition)
  cluster.admission.add(groveAdmission(client, configuration, log))
  // Bind the port first, so that an unavailable port fails before anything runs.
  const front = await listen(cluster, options.port)
  const controllers = await startControllers(connect('kube-controller-manager'), {
    log,
    serviceAccounts: { tokenIssuer: cluster.tokens, caCertificate: front.certificates.authority },
    autoscaler: { metrics: new SettableMetrics({ assumesUsage: true }) },
    kubelet: { logs, runInitContainer: startupWaiter(inProcessTransport(cluster.handle)) },
  })
  const existing = await client.list(nodes)
  if (existing.items.length === 0) await controllers.fleet.add(options.nodes)
  await grantOperator(client, configuration)
  // The operator has exactly the permissions that it has in a real cluster.
  const asOperator = () => connect('grove-operator', serviceAccountUser(operatorNamespace, operatorName))
  const recorder = new EventRecorder({ sink: eventSink(asOperator()), clock: systemClock, log })
  const operator = await startOperator(asOperator(), {
    configuration,
    waiterImage: 'grove-initc:local',
    events: recordedEvents(recorder),
    log,
  })
  const gangScheduler = enabledSchedulers(configuration).has(scheduler.grove)
    ? await startGangScheduler(client, connect, log)
    : undefined
  return {
    front,
    client,
    controllers,
    operator,
    nodeCount: existing.items.length || options.nodes.length,
    stop: async () => {
      await front.close()
      await gangScheduler?.stop()
      await operator.stop()
      await recorder.stop(lastEventsMs)
      await controllers.stop()
      cluster.stop()
    },
  }
}

/** The scheduler has exactly the permissions that it has in a real cluster. */
async function startGangScheduler(
  client: Client,
  connect: (userAgent: string, user: UserInfo) => Client,
  log: Logger,
): Promise<{ stop(): Promise<void> }> {
  await grantScheduler(client)
  const own = () => connect(schedulerAccountName, serviceAccountUser(operatorNamespace, schedulerAccountName))
  const recorder = new EventRecorder({ sink: eventSink(own()), clock: systemClock, log })
  const running = await startScheduler(own(), { log, events: recordedGangEvents(recorder) })
  return {
    stop: async () => {
      await running.stop()
      await recorder.stop(lastEventsMs)
    },
  }
}

async function listen(cluster: Cluster, port: number | undefined): Promise<HttpsEndpoint> {
  const { handle, authenticate } = cluster
  try {
    return await serveHttps({ handle, authenticate, ...(port !== undefined && { port }) })
  } catch (error) {
    cluster.stop()
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EADDRINUSE')
      throw new CommandError(`port ${port} is in use; set another --port, or omit it to use any free port`)
    if (code === 'EACCES') throw new CommandError(`port ${port} requires more privileges; use one above 1023`)
    throw error
  }
}

const nodes = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})

/** A cluster with data already has them. */
async function createOnce(client: Client, definition: KubeObject): Promise<void> {
  try {
    await client.create(definitions, definition)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
