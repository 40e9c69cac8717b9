// SPDX-License-Identifier: Apache-2.0

// An operator without permission on ComputeDomains while NVLink domains are disabled: it runs sets, sends no request
// for domains, and logs the missing permission.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { createClientOn, type Logger, silentLogger, type Transport } from '@grove/kube'
import { resources, startOperator } from '@grove/operator'
import { installStandIn } from './custom-kinds.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Harness } from './harness.ts'
import { solo } from './scenarios/manifests.ts'

let embedded: EmbeddedCluster

before(async () => {
  embedded = await startEmbeddedCluster({ nodes: 2 })
  await installStandIn(embedded.client, resources.computeDomains)
})
after(() => embedded?.stop())

/** Denies every access review for the verb delete, and records requests for ComputeDomains. */
function forbidding(asked: string[]): Transport {
  const transport = inProcessTransport(embedded.cluster.handle)
  const status = { allowed: false }
  return {
    request: async request => {
      if (request.path.includes('/computedomains')) asked.push(request.path)
      return request.path.includes('/selfsubjectaccessreviews') && `${request.body}`.includes('"delete"')
        ? { status: 201, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ status }) }
        : transport.request(request)
    },
    stream: request => {
      if (request.path.includes('/computedomains')) asked.push(request.path)
      return transport.stream(request)
    },
    close: () => transport.close(),
  }
}

test('without permission on ComputeDomains, sets run, no domain is requested, and the log names the missing permission', async () => {
  const asked: string[] = []
  const lines: string[] = []
  const log: Logger = { ...silentLogger, error: message => void lines.push(message) }
  const namespace = await embedded.newNamespace('team')
  const operatorClient = createClientOn(forbidding(asked))
  const harness = new Harness({ client: embedded.client, operatorClient, namespace, writes: [] })
  const operator = await startOperator(operatorClient, { configuration: defaultConfiguration(), log })
  try {
    await harness.apply(solo)
    await harness.untilReady('solo', 2)
    await harness.deleteSet('solo')
    await harness.until(
      'the set to be deleted',
      () => harness.set('solo'),
      found => found === undefined,
    )
  } finally {
    await operator.stop()
  }
  assert.deepEqual(asked, [])
  assert.match(lines.join('\n'), /ComputeDomains are not reconciled.*delete on computedomains/)
})
