// SPDX-License-Identifier: Apache-2.0

// The placement commands on a cluster that runs in this process, as `grove up` starts it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { ClusterTopologyBinding, Pod } from '@grove/api'
import { planNodes } from '@grove/cluster'
import { resources } from '@grove/operator'
import { type GangDecision, schedulerResources } from '@grove/scheduler'
import fc from 'fast-check'
import { type LocalCluster, startLocalCluster } from '../commands/up/local-cluster.ts'
import { localConfiguration } from '../commands/up/local-configuration.ts'
import { call } from '../testing/grove-call.ts'
import { fabric, gpuSet, placementFiles, type SetOptions } from '../testing/placement-files.ts'
import type { ExplainedGang } from './explained-gangs.ts'

const patienceMs = 30_000

async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + patienceMs
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    if (Date.now() > end) assert.fail(`timed out: ${what}`)
    await sleep(50)
  }
}

describe('placement on the embedded cluster', { concurrency: false }, () => {
  const files = placementFiles()
  let cluster: LocalCluster
  let kubeconfig = ''

  before(async () => {
    cluster = await startLocalCluster({
      configuration: localConfiguration(),
      nodes: planNodes({ nodes: [{ zones: 2, blocks: 1, racks: 2, hosts: 2, gpus: 8 }] }),
    })
    kubeconfig = files.write('kubeconfig', cluster.front.kubeconfig)
    await cluster.client.create(resources.clusterTopologyBindings, fabric as ClusterTopologyBinding)
  })
  after(async () => {
    await cluster?.stop()
    files.remove()
  })

  const pods = async (): Promise<Pod[]> => (await cluster.client.list(resources.pods, {})).items
  const apply = async (set: object) => {
    const { status, stderr } = await call([
      'apply',
      '-f',
      files.write('applied.json', [set]),
      '--kubeconfig',
      kubeconfig,
    ])
    assert.equal(status, 0, stderr)
  }
  const remove = async (name: string) => {
    await cluster.client.delete(resources.podCliqueSets, { name, namespace: 'default' })
    await until(`${name} is gone`, async () => ((await pods()).length === 0 ? true : undefined))
  }
  const plan = async (...args: string[]) => {
    const { status, stdout, stderr } = await call(['plan', ...args, '-o', 'json'])
    assert.notEqual(stdout, '', stderr)
    return { status, gangs: JSON.parse(stdout).gangs as GangDecision[] }
  }
  /** The status of the condition Scheduled of each gang. */
  const reported = (names: readonly string[]) =>
    Promise.all(
      names.map(async name => {
        const gang = await cluster.client.find(resources.podGangs, { name, namespace: 'default' })
        return [name, gang?.status?.conditions?.find(({ type }) => type === 'Scheduled')?.status]
      }),
    )
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
  /** Nodes, pods and topology in the form of `kubectl get -o json`. */
  const dump = async (): Promise<string> => {
    const { client } = cluster
    const items = [
      ...(await client.list(schedulerResources.nodes)).items.map(object => ({
        ...object,
        apiVersion: 'v1',
        kind: 'Node',
      })),
      ...(await pods()).map(object => ({ ...object, apiVersion: 'v1', kind: 'Pod' })),
      fabric,
    ]
    return files.write('dump.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  }

  test('explain gives the reason that the scheduler writes into the PodGang', async () => {
    await apply(gpuSet({ name: 'wide', required: 'rack', workers: 3, gpus: 8 }))
    const condition = await until('the scheduler reports a reason', async () => {
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
    const [gang] = await until('default-scheduler reports', async () => {
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
    await until('the pod is bound', async () => ((await pods())[0]?.spec.nodeName ? true : undefined))
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
    const level = fc.constantFrom(undefined, 'zone', 'rack')
    const sets: SetOptions[] = fc.sample(
      fc
        .record({
          replicas: fc.integer({ min: 1, max: 2 }),
          required: level,
          preferred: level,
          workers: fc.integer({ min: 1, max: 4 }),
          spare: fc.constantFrom(0, 0, 1),
          gpus: fc.constantFrom(1, 2, 3, 4, 8),
          scaled: fc.constantFrom(0, 0, 2, 3),
        })
        .map(({ spare, required, preferred, ...rest }) => ({
          ...rest,
          name: 'random',
          minAvailable: Math.max(1, rest.workers - spare),
          ...(required && { required }),
          // A preferred level must be narrower than the required one.
          ...(preferred && preferred !== required && required !== 'rack' && { preferred }),
        })),
      { numRuns: Number(process.env.SETS ?? 20), seed: 1 },
    )
    for (const options of sets) {
      const set = gpuSet(options)
      const { gangs } = await plan('-f', files.write('random.json', [set]), '--nodes', await dump())
      const expected = gangs.flatMap(gang =>
        gang.pods.flatMap(({ name, node }) => (node ? [`${name} ${node}`] : [])),
      )
      await apply(set)
      const verdicts = gangs.map(({ name, verdict }) => [name, verdict === 'Scheduled' ? 'True' : 'False'])
      const title = JSON.stringify(options)
      // The scheduler writes the verdict of a gang after it has bound its minimum.
      await until(`the scheduler decides ${JSON.stringify(verdicts)}: ${title}`, async () =>
        isDeepStrictEqual(await reported(gangs.map(({ name }) => name)), verdicts) ? true : undefined,
      )
      const bound = await until(`${expected.length} pods on nodes: ${title}`, async () => {
        const found = (await pods()).filter(({ spec }) => spec.nodeName)
        return found.length >= expected.length ? found : undefined
      })
      assert.deepEqual(
        bound.map(({ spec }) => `${spec.hostname} ${spec.nodeName}`).sort(),
        expected.sort(),
        title,
      )
      await remove('random')
    }
  })
})
