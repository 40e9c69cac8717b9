// SPDX-License-Identifier: Apache-2.0

// `grove plan` from a dump predicts what the gang scheduler does next to kube-scheduler on a real control plane.
//
// Sets are applied in batches. Each set of a batch selects its own eight nodes, so that the sets do not compete. The
// scheduler starts when all gangs of the batch are complete: a gang that is complete earlier than another could be
// bound earlier, and no plan can know that. Every set is planned twice: from its manifest, and from a dump of the
// gangs as they were created. Only the second plan knows the ages of the gangs, so the first is compared if all have
// the same age. SETS=200 runs more sets.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ClusterTopologyBinding } from '@grove/api'
import { type Client, createClient } from '@grove/kube'
import { resources } from '@grove/operator'
import { startScheduler } from '@grove/scheduler'
import { type Kubernetes, type NodeSpec, startKubernetes } from '@grove/test-kubernetes'
import { type OperatorProcess, startOperatorProcess } from '@grove/test-scenarios'
import { localConfiguration } from '../commands/up/local-configuration.ts'
import { fabric, gpuSet, placementFiles, rackKey, zoneKey } from '../testing/placement-files.ts'
import {
  applySet,
  areSameAge,
  assertPredicted,
  deleteSets,
  dump,
  type PlannedOnCluster,
  predict,
  predictWaiting,
  randomSets,
  untilComplete,
} from '../testing/predicted-sets.ts'

const count = Number(process.env.SETS ?? 40)
const batchSize = 10
const partKey = 'example.com/part'

const files = placementFiles()
let kubernetes: Kubernetes
let operator: OperatorProcess
let client: Client
let cluster: PlannedOnCluster

before(async () => {
  kubernetes = await startKubernetes({
    nodes: Array.from({ length: batchSize }, (_, part) => part).flatMap(nodesOf),
  })
  const { server, ca, admin } = kubernetes
  client = createClient({
    server,
    namespace: 'default',
    tls: () => ({ ca, certificate: admin.cert, key: admin.key }),
  })
  const { scheduler, topologyAwareScheduling } = localConfiguration()
  operator = await startOperatorProcess(kubernetes, { configuration: { scheduler, topologyAwareScheduling } })
  await client.create(resources.clusterTopologyBindings, fabric as ClusterTopologyBinding)
  cluster = { client, kubeconfig: kubernetes.kubeconfig, files, patienceMs: 120_000 }
})
after(async () => {
  operator?.kill()
  await client?.close()
  await kubernetes?.stop()
  files.remove()
})

/** Two zones of two racks of two nodes, with eight GPUs each. */
function nodesOf(part: number): NodeSpec[] {
  return Array.from({ length: 8 }, (_, at) => ({
    name: `p${part}-${at}`,
    labels: {
      [partKey]: `p${part}`,
      [zoneKey]: `p${part}-z${at >> 2}`,
      [rackKey]: `p${part}-r${at >> 1}`,
    },
    capacity: { 'nvidia.com/gpu': '8' },
  }))
}

test(`the scheduler places ${count} sets on a real control plane as grove plan says from a dump`, async () => {
  const sets = randomSets(count)
  let fromManifests = 0
  for (let first = 0; first < sets.length; first += batchSize) {
    const batch = sets.slice(first, first + batchSize).map((options, part) => ({
      ...options,
      name: `random-${part}`,
      nodeSelector: { [partKey]: `p${part}` },
    }))
    const nodes = await dump(cluster)
    const predictions = []
    for (const options of batch) {
      predictions.push(await predict(cluster, options, nodes))
      await applySet(cluster, gpuSet(options))
    }
    await Promise.all(predictions.map(prediction => untilComplete(cluster, prediction)))
    const compared = await predictWaiting(cluster, predictions)
    for (const prediction of predictions) {
      if (!(await areSameAge(cluster, prediction))) continue
      compared.push(prediction)
      fromManifests++
    }
    const scheduler = await startScheduler(client)
    try {
      await Promise.all(compared.map(prediction => assertPredicted(cluster, prediction)))
    } finally {
      await scheduler.stop()
    }
    await deleteSets(
      cluster,
      batch.map(({ name }) => name),
    )
  }
  assert.ok(fromManifests > count / 2, `${fromManifests} of ${count} sets have gangs of the same age`)
})
