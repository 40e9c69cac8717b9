// SPDX-License-Identifier: Apache-2.0

import { after, before, describe, test } from 'node:test'
import { waiter } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { resources } from '@grove/operator'
import { runWaiter } from '@grove/waiter'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Harness, type WriteCount } from './harness.ts'
import { embeddedScenarios, scenarios } from './scenarios/index.ts'
import { SkippingClock } from './skipping-clock.ts'

describe('scenarios on the embedded cluster', () => {
  const clock = new SkippingClock()
  let embedded: EmbeddedCluster

  before(async () => {
    embedded = await startEmbeddedCluster({
      clock,
      controllers: cluster => ({
        autoscaler: { intervalMs: 200 },
        kubelet: {
          runInitContainer: (pod, container, { signal, log }) =>
            container.name === waiter.containerName
              ? runWaiter({
                  args: container.args ?? [],
                  namespace: pod.metadata.namespace ?? '',
                  transport: inProcessTransport(cluster.handle),
                  signal,
                  log,
                }).then(exitCode => ({ exitCode }))
              : undefined,
        },
      }),
    })
  })
  after(() => embedded?.stop())

  ;[...scenarios, ...embeddedScenarios].forEach((scenario, at) => {
    test(scenario.name, async () => {
      const writes: WriteCount[] = []
      const namespace = await embedded.newNamespace(`scenario-${at}`)
      const harness = new Harness({
        ...scenario,
        client: embedded.client,
        operatorClient: embedded.connect(writes, namespace),
        namespace,
        writes,
        clock,
        ...(scenario.configuration && { configuration: scenario.configuration }),
      })
      await harness.startOperator()
      try {
        await scenario.run(harness)
      } finally {
        // Otherwise every later operator would reconcile the sets of all earlier scenarios.
        await embedded.client.deleteCollection(resources.podCliqueSets, { namespace })
        await harness.stopOperator()
      }
    })
  })
})
