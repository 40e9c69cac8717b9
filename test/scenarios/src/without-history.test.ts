// SPDX-License-Identifier: Apache-2.0

// An operator without permission on ControllerRevisions, for example after an upgrade with old RBAC rules. Sets run
// without a history, and the operator reports the missing permission.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defaultConfiguration, type EventValue } from '@grove/api'
import {
  type Cluster,
  createCluster,
  inProcessTransport,
  plainNodes,
  type RunningControllers,
  startControllers,
} from '@grove/cluster'
import {
  type Client,
  createClientOn,
  defineResource,
  type KubeObject,
  type Logger,
  silentLogger,
  type TransportRequest,
} from '@grove/kube'
import { resources, startOperator } from '@grove/operator'
import { installCustomResources } from './custom-kinds.ts'
import { Harness } from './harness.ts'
import { solo } from './scenarios/manifests.ts'

const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

describe('an operator without permission on ControllerRevisions', () => {
  let cluster: Cluster
  let controllers: RunningControllers
  let client: Client

  before(async () => {
    cluster = createCluster()
    client = createClientOn(inProcessTransport(cluster.handle), {})
    await installCustomResources(client)
    controllers = await startControllers(createClientOn(inProcessTransport(cluster.handle), {}), {})
    await controllers.fleet.add(plainNodes(2))
  })
  after(async () => {
    await controllers?.stop()
    cluster?.stop()
  })

  /** A client whose requests for ControllerRevisions are rejected, all of them or only writes. */
  function rejected(isRejected: (request: TransportRequest) => boolean): Client {
    const transport = inProcessTransport(cluster.handle)
    const body = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      reason: 'Forbidden',
      code: 403,
      message: 'controllerrevisions.apps is forbidden',
    })
    return createClientOn(
      {
        request: async request =>
          request.path.includes('/controllerrevisions') && isRejected(request)
            ? { status: 403, headers: { 'content-type': 'application/json' }, body }
            : transport.request(request),
        stream: request => transport.stream(request),
        close: () => transport.close(),
      },
      {},
    )
  }

  async function runSet(namespace: string, operatorClient: Client) {
    const lines: string[] = []
    const events: EventValue[] = []
    const log: Logger = { ...silentLogger, error: message => void lines.push(message) }
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    const harness = new Harness({ client, operatorClient, namespace, writes: [] })
    const operator = await startOperator(operatorClient, {
      configuration: defaultConfiguration(),
      log,
      events: { emit: (_about, _source, event) => void events.push(event) },
    })
    try {
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
      const set = await harness.untilAvailable('solo', 1)
      assert.deepEqual(set.status?.lastErrors ?? [], [])
      assert.equal((await harness.list(resources.controllerRevisions, 'solo')).length, 0)
      await harness.deleteSet('solo')
      await harness.until(
        'the set to be deleted',
        () => harness.set('solo'),
        found => found === undefined,
      )
    } finally {
      await operator.stop()
    }
    return { lines, events }
  }

  test('logs the missing permission when it starts, and runs sets without a history', async () => {
    const { lines } = await runSet(
      'none',
      rejected(() => true),
    )
    assert.ok(
      lines.some(line =>
        /Revisions of sets are not recorded.*controllerrevisions of the group apps/.test(line),
      ),
      lines.join('\n'),
    )
  })

  test('emits an event on the set when only writes are rejected', async () => {
    const { events } = await runSet(
      'read-only',
      rejected(({ method }) => method !== 'GET'),
    )
    const [event] = events.filter(({ reason }) => reason === 'RevisionNotRecorded')
    assert.match(event?.message ?? '', /forbidden/)
  })
})
