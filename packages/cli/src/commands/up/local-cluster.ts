// SPDX-License-Identifier: Apache-2.0

// A whole cluster in this process: API over HTTPS, simulated nodes, scheduler, kubelets, and the operator.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { customResourceDefinitions, type OperatorConfiguration, operatorName } from '@grove/api'
import {
  ContainerLogs,
  createCluster,
  type HttpsFront,
  inProcessTransport,
  MemoryStore,
  openSqliteJournal,
  plainNodes,
  type RunningControllers,
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
  systemClock,
} from '@grove/kube'
import { type RunningOperator, recordedEvents, startOperator } from '@grove/operator'
import { groveAdmission } from './admission-plugin.ts'
import { grantOperator, operatorNamespace } from './operator-rights.ts'
import { startupWaiter } from './startup-waiter.ts'

export interface LocalClusterOptions {
  readonly configuration: OperatorConfiguration
  readonly nodes: number
  readonly gpusPerNode: number
  /** Any free port when absent. */
  readonly port?: number
  /** Where objects outlive the process; in memory when absent. */
  readonly dataDirectory?: string
}

export interface LocalCluster {
  readonly front: HttpsFront
  readonly client: Client
  readonly controllers: RunningControllers
  readonly operator: RunningOperator
  stop(): Promise<void>
}

/** What is left to be told when it stops. */
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
  if (dataDirectory) mkdirSync(dataDirectory, { recursive: true })
  const logs = new ContainerLogs((pod, container) => [`${container} of ${pod.metadata?.name} is simulated`])
  const cluster = createCluster({
    authorization: 'rbac',
    // The same objects, typed by two parts of one package.
    podLogs: (pod, container, options) =>
      logs.read(pod as Parameters<typeof logs.read>[0], container, options),
    ...(dataDirectory && {
      store: new MemoryStore({ journal: openSqliteJournal(join(dataDirectory, 'cluster.db')) }),
    }),
  })
  const connect = (userAgent: string, user?: UserInfo) =>
    createClientOn(inProcessTransport(cluster.handle, user), { userAgent })
  const client = connect('grove')
  for (const definition of customResourceDefinitions) await createOnce(client, definition)
  cluster.admission.add(groveAdmission(client, configuration, log))
  const controllers = await startControllers(connect('kube-controller-manager'), {
    log,
    serviceAccounts: { tokenIssuer: cluster.tokens },
    kubelet: { logs, runInitContainer: startupWaiter(inProcessTransport(cluster.handle)) },
  })
  const existing = await client.list(nodes)
  if (existing.items.length === 0)
    await controllers.fleet.add(plainNodes(options.nodes, { gpus: options.gpusPerNode }))
  await grantOperator(client, configuration)
  // The operator has here exactly the rights that it has in a real cluster.
  const asOperator = () => connect('grove-operator', serviceAccountUser(operatorNamespace, operatorName))
  const recorder = new EventRecorder({ sink: eventSink(asOperator()), clock: systemClock, log })
  const operator = await startOperator(asOperator(), {
    configuration,
    waiterImage: 'grove-initc:local',
    events: recordedEvents(recorder),
    log,
  })
  const front = await serveHttps({
    handle: cluster.handle,
    authenticate: cluster.authenticate,
    ...(options.port && { port: options.port }),
  })
  return {
    front,
    client,
    controllers,
    operator,
    stop: async () => {
      await front.close()
      await operator.stop()
      await recorder.stop(lastEventsMs)
      await controllers.stop()
      cluster.stop()
    },
  }
}

const nodes = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})

/** A cluster that was kept has them already. */
async function createOnce(client: Client, definition: KubeObject): Promise<void> {
  try {
    await client.create(definitions, definition)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
  }
}
