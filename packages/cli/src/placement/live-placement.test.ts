// SPDX-License-Identifier: Apache-2.0

// The placement commands on a cluster that runs in this process, as `grove up` starts it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ClusterTopologyBinding } from '@grove/api'
import { planNodes } from '@grove/cluster'
import { resources } from '@grove/operator'
import { type LocalCluster, startLocalCluster } from '../commands/up/local-cluster.ts'
import { localConfiguration } from '../commands/up/local-configuration.ts'
import { call } from '../testing/grove-call.ts'
import { fabric, gpuSet, placementFiles } from '../testing/placement-files.ts'
import {
  allPods,
  applySet,
  assertPredicted,
  deleteSets,
  dump,
  type PlannedOnCluster,
  planSets,
  predict,
  randomSets,
  until,
} from '../testing/predicted-sets.ts'
import type { ExplainedGang } from './explained-gangs.ts'

const patienceMs = 30_000

describe('placement on the embedded cluster', { concurrency: false }, () => {
  const files = placementFiles()
  let cluster: LocalCluster
  let kubeconfig = ''
  let planned: PlannedOnCluster

  before(async () => {
    cluster = await startLocalCluster({
      configuration: localConfiguration(),
      nodes: planNodes({ nodes: [{ zones: 2, blocks: 1, racks: 2, hosts: 2, gpus: 8 }] }),
    })
    kubeconfig = files.write('kubeconfig', cluster.front.kubeconfig)
    planned = { client: cluster.client, kubeconfig, files, patienceMs }
    await cluster.client.create(resources.clusterTopologyBindings, fabric as ClusterTopologyBinding)
  })
  after(async () => {
    await cluster?.stop()
    files.remove()
  })

  const pods = () => allPods(cluster.client)
  const apply = (set: object) => applySet(planned, set)
  const remove = (name: string) => deleteSets(planned, [name])
  const plan = planSets
  const explain = async (...args: string[]) => {
    const { status, stdout, stderr } = await call([
      'explain',
      ...args,
      '--kubeconfig',
      kubeconfig,
      '-o',
      'json',
    ])
    assert.equal(status, 0, stderr)
    return JSON.parse(stdout).gangs as ExplainedGang[]
  }
  test('explain gives the reason that the scheduler writes into the PodGang', async () => {
    await apply(gpuSet({ name: 'wide', required: 'rack', workers: 3, gpus: 8 }))
    const condition = await until('the scheduler reports a reason', patienceMs, async () => {
      const gang = await cluster.client.find(resources.podGangs, { name: 'wide-0', namespace: 'default' })
      const found = gang?.status?.conditions?.find(({ type }) => type === 'Scheduled')
      return found?.reason === 'DomainTooSmall' ? found : undefined
    })
    for (const args of [[], ['wide'], ['wide-0'], ['-n', 'default']]) {
      const [gang, ...others] = await explain(...args)
      assert.deepEqual(others, [])
      assert.equal(gang?.name, 'wide-0')
      assert.equal(gang?.schedulerName, 'grove-scheduler')
      assert.equal(gang?.explanation?.code, condition.reason)
      assert.equal(gang?.explanation?.message, condition.message)
    }
    const text = await call(['explain', 'wide', '--kubeconfig', kubeconfig])
    assert.match(text.stdout, /^ {2}wide-0 {2}Unschedulable {2}DomainTooSmall\n/)
    assert.match(text.stdout, /\n {4}fix: require level zone instead of rack for wide-0\n/)

    const pending = await plan('--pending', '--kubeconfig', kubeconfig)
    assert.equal(pending.status, 1)
    assert.deepEqual(
      pending.gangs.map(({ name, explanation }) => [name, explanation?.message]),
      [['wide-0', condition.message]],
    )
    await remove('wide')
  })

  test('apply warns about a set that can never fit, and applies it', async () => {
    const set = gpuSet({ name: 'never', required: 'rack', workers: 3, gpus: 8 })
    const { status, stderr } = await call([
      'apply',
      '-f',
      files.write('never.json', [set]),
      '--kubeconfig',
      kubeconfig,
    ])
    assert.equal(status, 0, stderr)
    assert.match(
      stderr,
      /PodGang never-0 cannot be scheduled on the present 8 nodes, even if they were empty: PodGang never-0 needs 3 pods in one rack; the largest rack \S+ can ever hold 2 pods/,
    )
    await remove('never')
  })

  test('explain reports the plan for pods of another scheduler, and the messages of that scheduler', async () => {
    await apply(gpuSet({ name: 'other', workers: 9, gpus: 8, schedulerName: 'default-scheduler' }))
    const [gang] = await until('default-scheduler reports', patienceMs, async () => {
      const found = await explain('other')
      return found[0]?.reported.length ? found : undefined
    })
    assert.equal(gang?.schedulerName, 'default-scheduler')
    assert.equal(gang?.verdict, 'Unschedulable')
    assert.match(gang?.reported[0]?.message ?? '', /nodes are available/)
    const text = await call(['explain', 'other', '--kubeconfig', kubeconfig])
    assert.match(text.stdout, /default-scheduler reports for 1 pod: /)
    assert.deepEqual((await plan('--pending', '--kubeconfig', kubeconfig)).gangs, [])
    await remove('other')
  })

  test('explain names existing sets, and reports if no gang waits', async () => {
    await apply(gpuSet({ name: 'small', workers: 1 }))
    await until('the pod is bound', patienceMs, async () =>
      (await pods())[0]?.spec.nodeName ? true : undefined,
    )
    assert.deepEqual(await explain('small'), [])
    const text = await call(['explain', '--kubeconfig', kubeconfig])
    assert.equal(text.stdout, 'No gang waits in namespace default.\n')
    const unknown = await call(['explain', 'smal', '--kubeconfig', kubeconfig])
    assert.equal(unknown.status, 2)
    assert.match(
      unknown.stderr,
      /there is no PodCliqueSet or PodGang smal in namespace default; there is small/,
    )
    await remove('small')
  })

  test('the scheduler places sets exactly as they were planned from a dump', {
    timeout: 1_800_000,
  }, async () => {
    for (const options of randomSets(Number(process.env.SETS ?? 20))) {
      const prediction = await predict(planned, options, await dump(planned))
      await apply(gpuSet(options))
      await assertPredicted(planned, prediction)
      await remove('random')
    }
  })
})
