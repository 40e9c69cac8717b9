// SPDX-License-Identifier: Apache-2.0

// PodCliqueSets under the operator and the gang scheduler, which runs as a second scheduler. Pods without a size fill
// one node, so nodes are slots. The same tests run on the embedded cluster and on a real one.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { defaultConfiguration, label, type Pod, type PodGang } from '@grove/api'
import type { Client, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { type RunningScheduler, startScheduler } from '@grove/scheduler'
import { type GangCluster, nodes, uncordon } from './gang-scheduler.ts'
import { Harness, isReady, type WriteCount } from './harness.ts'

export interface SetCluster extends GangCluster {
  /** A client for the operator that records its writes to a namespace. */
  connectOperator(writes: WriteCount[], namespace: string): Client
}

interface CliqueShape {
  readonly name: string
  readonly replicas: number
  readonly min?: number
  readonly gpus?: number
  readonly pack?: Pack
}

interface GroupShape {
  readonly name: string
  readonly cliques: readonly string[]
  readonly replicas: number
  readonly min: number
  readonly pack?: Pack
}

interface SetShape {
  readonly cliques: readonly CliqueShape[]
  readonly groups?: readonly GroupShape[]
  readonly replicas?: number
  readonly pack?: Pack
}

interface Pack {
  readonly required?: string
  readonly preferred?: string
}

const topology = 'gang-sets'
const keys = {
  zone: 'gang-sets.example/zone',
  block: 'gang-sets.example/block',
  rack: 'gang-sets.example/rack',
  host: 'kubernetes.io/hostname',
}
/** Racks by the number of nodes: two blocks of two racks each. */
const racks = [
  { block: 'b0', rack: 'r0', nodes: 4 },
  { block: 'b0', rack: 'r1', nodes: 4 },
  { block: 'b1', rack: 'r2', nodes: 3 },
  { block: 'b1', rack: 'r3', nodes: 3 },
]

function manifest({ cliques, groups = [], replicas = 1, pack }: SetShape): string {
  const constraint = (of: Pack | undefined) =>
    of && { topologyConstraint: { topologyName: topology, pack: of } }
  return JSON.stringify({
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'w' },
    spec: {
      replicas,
      template: {
        ...constraint(pack),
        cliques: cliques.map(clique => ({
          name: clique.name,
          ...constraint(clique.pack),
          spec: {
            roleName: clique.name,
            replicas: clique.replicas,
            minAvailable: clique.min ?? clique.replicas,
            podSpec: {
              containers: [
                {
                  name: 'main',
                  image: 'registry.example/main:1',
                  resources: { limits: { 'nvidia.com/gpu': String(clique.gpus ?? 8) } },
                },
              ],
            },
          },
        })),
        ...(groups.length > 0 && {
          podCliqueScalingGroups: groups.map(group => ({
            name: group.name,
            cliqueNames: group.cliques,
            replicas: group.replicas,
            minAvailable: group.min,
            ...constraint(group.pack),
          })),
        }),
      },
    },
  })
}

/** The set of the scenarios G3 to G8. */
const small: SetShape = {
  cliques: [
    { name: 'a', replicas: 2, min: 1 },
    { name: 'b', replicas: 1 },
    { name: 'c', replicas: 3, min: 1 },
  ],
  groups: [{ name: 'x', cliques: ['b', 'c'], replicas: 2, min: 1 }],
}

export const configuration = {
  ...defaultConfiguration(),
  scheduler: {
    profiles: [{ name: 'grove-scheduler' }, { name: 'default-scheduler' }],
    defaultProfileName: 'grove-scheduler',
  },
  topologyAwareScheduling: { enabled: true },
}

export function gangSetTests(title: string, cluster: () => SetCluster): void {
  describe(title, { concurrency: false }, () => {
    let client: Client
    let harness: Harness
    let scheduler: RunningScheduler
    let free = 0
    const nodeOf = new Map<string, { readonly block: string; readonly rack: string; readonly zone: string }>()

    before(async () => {
      client = cluster().client
      const names = [...cluster().nodeNames]
      for (const { block, rack, nodes: count } of racks)
        for (const name of names.splice(0, count)) {
          nodeOf.set(name, { zone: 'z0', block, rack })
          const labels = { [keys.zone]: 'z0', [keys.block]: block, [keys.rack]: rack }
          await client.patch(nodes, { name }, { merge: { metadata: { labels } } })
        }
      await client.create(resources.clusterTopologyBindings, {
        apiVersion: 'grove.io/v1alpha1',
        kind: 'ClusterTopologyBinding',
        metadata: { name: topology },
        spec: { levels: Object.entries(keys).map(([domain, key]) => ({ domain, key })) },
      })
    })
    after(() => client?.delete(resources.clusterTopologyBindings, { name: topology }))

    beforeEach(async () => {
      const namespace = await cluster().newNamespace()
      const writes: WriteCount[] = []
      harness = new Harness({
        client,
        operatorClient: cluster().connectOperator(writes, namespace),
        namespace,
        writes,
        configuration,
      })
      free = 0
      for (const name of cluster().nodeNames)
        await client.patch(nodes, { name }, { merge: { spec: { unschedulable: true, taints: null } } })
      scheduler = await startScheduler(cluster().connect())
      await harness.startOperator()
    })
    afterEach(async () => {
      try {
        await harness.cleanUp('w')
      } finally {
        await scheduler.stop()
      }
    })

    const setCordon = (name: string, unschedulable: boolean) =>
      client.patch(nodes, { name }, { merge: { spec: { unschedulable } } })
    async function addSlots(count: number): Promise<void> {
      const added = cluster().nodeNames.slice(free, free + count)
      free += count
      // The scheduler sees all nodes at once. Otherwise a smaller gang of lower rank may use the first ones while a
      // larger gang still waits for more.
      await scheduler.stop()
      await uncordon(client, added)
      scheduler = await startScheduler(cluster().connect())
    }
    const bound = (pods: readonly Stored<Pod>[]) =>
      pods.filter(({ metadata, spec }) => spec.nodeName && !metadata.deletionTimestamp)
    const cliquesOf = (pods: readonly Stored<Pod>[]) =>
      pods.map(({ metadata }) => metadata.labels?.[label.podClique] ?? '').sort()
    const untilBound = (count: number) =>
      harness.until(
        `${count} pods on nodes`,
        async () => bound(await harness.pods('w')),
        found => found.length === count,
      )
    const gang = (name: string): Promise<Stored<PodGang> | undefined> =>
      client.find(resources.podGangs, { name, namespace: harness.namespace })
    const scheduledCondition = (found: PodGang | undefined) =>
      found?.status?.conditions?.find(({ type }) => type === 'Scheduled')
    const untilWaiting = (name: string, reason?: string) =>
      harness.until(
        `PodGang ${name} to wait`,
        async () => scheduledCondition(await gang(name)),
        found => found?.status === 'False' && (reason === undefined || found.reason === reason),
      )
    const untilScheduled = (name: string) =>
      harness.until(
        `PodGang ${name} to be scheduled`,
        () => gang(name),
        found => scheduledCondition(found)?.status === 'True',
      )
    const untilPods = (count: number) =>
      harness.until(
        `${count} pods`,
        () => harness.pods('w'),
        found => found.length === count,
      )
    /** The distinct values of a level for the pods of a clique, or of all cliques with this name prefix. */
    const domains = (
      pods: readonly Stored<Pod>[],
      clique: string,
      level: 'zone' | 'block' | 'rack' | 'host',
    ) => {
      const own = pods.filter(({ metadata }) => metadata.labels?.[label.podClique]?.startsWith(clique))
      return new Set(
        own.map(({ spec }) => (level === 'host' ? spec.nodeName! : nodeOf.get(spec.nodeName!)![level])),
      )
    }

    test('creates pods without a gate and binds them with no further write of the operator to pods', async () => {
      await addSlots(10)
      await harness.apply(manifest(small))
      const pods = await harness.untilReady('w', 10)
      assert.deepEqual(
        pods.filter(({ spec }) => spec.schedulingGates?.length),
        [],
      )
      assert.deepEqual(
        harness.writes.filter(({ resource, verb }) => resource.startsWith('pods') && verb !== 'create'),
        [],
      )
      await untilScheduled('w-0')
      await untilScheduled('w-0-x-0')
    })

    test('removes the gate of a pod that another operator has created', async () => {
      await addSlots(9)
      await harness.apply(manifest({ cliques: [{ name: 'a', replicas: 10 }] }))
      const [first] = await untilPods(10)
      await untilWaiting('w-0')
      await harness.stopOperator()
      const { name, labels, annotations, ownerReferences } = first!.metadata
      await harness.deletePod(name)
      await untilPods(9)
      await client.create(resources.pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'gated',
          namespace: harness.namespace,
          ...(labels && { labels }),
          ...(annotations && { annotations }),
          ...(ownerReferences && { ownerReferences }),
        },
        spec: {
          ...first!.spec,
          volumes: [],
          containers: first!.spec.containers.map(container => ({ ...container, volumeMounts: [] })),
          schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }],
        },
      } as Pod)
      await harness.startOperator()
      await addSlots(1)
      const pods = await untilBound(10)
      assert.ok(pods.some(({ metadata }) => metadata.name === 'gated'))
    })

    test('G1: schedules no pod with nine slots for ten, and all with the tenth', async () => {
      await addSlots(9)
      await harness.apply(
        manifest({
          cliques: [
            { name: 'a', replicas: 4 },
            { name: 'b', replicas: 6 },
          ],
        }),
      )
      const pods = await untilPods(10)
      await untilWaiting('w-0')
      assert.deepEqual(bound(pods), [])
      await addSlots(1)
      await harness.untilReady('w', 10)
    })

    test('G2: a scaling group that grows waits for room, and running pods are unchanged', async () => {
      await addSlots(10)
      const shape: SetShape = {
        cliques: [
          { name: 'a', replicas: 2 },
          { name: 'b', replicas: 1 },
          { name: 'c', replicas: 3 },
        ],
        groups: [{ name: 'x', cliques: ['b', 'c'], replicas: 2, min: 2 }],
      }
      await harness.apply(manifest(shape))
      const running = await harness.untilReady('w', 10)
      await harness.scale(resources.podCliqueScalingGroups, 'w-0-x', 3)
      await untilPods(14)
      await untilWaiting('w-0-x-0')
      const uids = (pods: readonly Stored<Pod>[]) => pods.map(({ metadata }) => metadata.uid).sort()
      assert.deepEqual(uids(bound(await harness.pods('w'))), uids(running))
      await addSlots(4)
      const all = await harness.untilReady('w', 14)
      assert.deepEqual(
        uids(all.filter(({ metadata }) => uids(running).includes(metadata.uid))),
        uids(running),
      )
    })

    test('G3 to G5, G8: base minimum, then the scaled gang, then surplus', async () => {
      await addSlots(2)
      await harness.apply(manifest(small))
      await untilPods(10)
      await untilWaiting('w-0')
      const held = await untilWaiting('w-0-x-0', 'BaseGangNotScheduled')
      assert.match(held!.message, /^waits for base gang w-0: /)
      assert.deepEqual(bound(await harness.pods('w')), [])
      await addSlots(1)
      const base = ['w-0-a', 'w-0-x-0-b', 'w-0-x-0-c']
      assert.deepEqual(cliquesOf(await untilBound(3)), base)
      await addSlots(2)
      assert.deepEqual(cliquesOf(await untilBound(5)), [...base, 'w-0-x-1-b', 'w-0-x-1-c'])
      await addSlots(5)
      await harness.untilReady('w', 10)
    })

    test('G6: schedules two scaled gangs before the surplus of the base gang', async () => {
      await harness.apply(manifest(small))
      await untilPods(10)
      await harness.scale(resources.podCliqueScalingGroups, 'w-0-x', 3)
      await untilPods(14)
      await untilWaiting('w-0-x-1', 'BaseGangNotScheduled')
      await addSlots(3)
      const base = ['w-0-a', 'w-0-x-0-b', 'w-0-x-0-c']
      assert.deepEqual(cliquesOf(await untilBound(3)), base)
      await addSlots(4)
      assert.deepEqual(cliquesOf(await untilBound(7)), [
        ...base,
        ...['w-0-x-1-b', 'w-0-x-1-c', 'w-0-x-2-b', 'w-0-x-2-c'],
      ])
    })

    test('G7: both base gangs, then both scaled gangs', async () => {
      // An older scaled gang comes before a younger base gang, so all gangs have to be of the same second.
      for (;;) {
        await harness.apply(manifest({ ...small, replicas: 2 }))
        await untilPods(20)
        await untilWaiting('w-1-x-0', 'BaseGangNotScheduled')
        const found = await client.list(resources.podGangs, { namespace: harness.namespace })
        if (new Set(found.items.map(({ metadata }) => metadata.creationTimestamp)).size === 1) break
        await harness.deleteSet('w')
        await untilPods(0)
      }
      await addSlots(6)
      const bases = [0, 1].flatMap(at => [`w-${at}-a`, `w-${at}-x-0-b`, `w-${at}-x-0-c`])
      assert.deepEqual(cliquesOf(await untilBound(6)), bases)
      await addSlots(4)
      const scaled = [0, 1].flatMap(at => [`w-${at}-x-1-b`, `w-${at}-x-1-c`])
      assert.deepEqual(cliquesOf(await untilBound(10)), [...bases, ...scaled].sort())
    })

    test('a lost pod avoids cordoned and tainted nodes, and waits for one that is uncordoned', async () => {
      await addSlots(4)
      await harness.apply(manifest({ cliques: [{ name: 'a', replicas: 3 }] }))
      const pods = await harness.untilReady('w', 3)
      const used = pods.map(({ spec }) => spec.nodeName!)
      const spare = cluster()
        .nodeNames.slice(0, 4)
        .find(name => !used.includes(name))!
      await setCordon(used[0]!, true)
      await client.patch(
        nodes,
        { name: spare },
        { merge: { spec: { taints: [{ key: 'example.com/repair', effect: 'NoSchedule' }] } } },
      )
      await harness.deletePod(pods[0]!.metadata.name)
      // At first the gang may wait for the replacement of the pod.
      await harness.until(
        'PodGang w-0 to wait for a node',
        async () => scheduledCondition(await gang('w-0')),
        found => found?.status === 'False' && /uncordoned|tolerated/.test(found.message),
      )
      // The operator writes this condition, and the scheduler the one above.
      await harness.until(
        'PodGang w-0 to be unhealthy',
        async () => (await gang('w-0'))?.status?.conditions?.find(({ type }) => type === 'Unhealthy'),
        found => found?.status === 'True',
      )
      assert.equal(bound(await harness.pods('w')).length, 2, 'the survivors keep running')
      await setCordon(used[0]!, false)
      const again = await harness.until(
        'three ready pods',
        () => harness.pods('w'),
        all => all.length === 3 && all.every(isReady),
      )
      assert.deepEqual(again.map(({ spec }) => spec.nodeName).sort(), [...used].sort())
      await untilScheduled('w-0')
    })

    test('T1: two cliques with a level each, none for the gang', async () => {
      await addSlots(14)
      await harness.apply(
        manifest({
          cliques: [
            { name: 'a', replicas: 3, pack: { required: 'rack' } },
            { name: 'b', replicas: 6, pack: { required: 'block' } },
          ],
        }),
      )
      const pods = await harness.untilReady('w', 9)
      const found = await untilScheduled('w-0')
      assert.equal(found!.spec.topologyConstraint, undefined)
      assert.deepEqual(
        found!.spec.podgroups.map(group => group.topologyConstraint?.packConstraint?.required),
        [keys.rack, keys.block],
      )
      assert.equal(domains(pods, 'w-0-a', 'rack').size, 1)
      assert.equal(domains(pods, 'w-0-b', 'block').size, 1)
    })

    test('T2: the whole gang in one rack', async () => {
      await addSlots(14)
      await harness.apply(
        manifest({
          pack: { required: 'rack' },
          cliques: [
            { name: 'router', replicas: 2 },
            { name: 'work', replicas: 1 },
          ],
          groups: [{ name: 'x', cliques: ['work'], replicas: 2, min: 2 }],
        }),
      )
      const pods = await harness.untilReady('w', 4)
      const { spec } = (await untilScheduled('w-0'))!
      assert.equal(spec.topologyConstraint?.packConstraint?.required, keys.rack)
      assert.equal(spec.topologyConstraintGroupConfigs, undefined)
      assert.equal(spec.podgroups.length, 3)
      assert.equal(domains(pods, 'w-0', 'rack').size, 1)
    })

    test('T3: every replica of a scaling group in one rack', async () => {
      await addSlots(14)
      await harness.apply(
        manifest({
          cliques: [
            { name: 'router', replicas: 1 },
            { name: 'work', replicas: 3 },
          ],
          groups: [{ name: 'x', cliques: ['work'], replicas: 2, min: 2, pack: { required: 'rack' } }],
        }),
      )
      const pods = await harness.untilReady('w', 7)
      const { spec } = (await untilScheduled('w-0'))!
      assert.deepEqual(
        spec.topologyConstraintGroupConfigs?.map(config => [config.name, config.topologyConstraint]),
        [0, 1].map(at => [`w-0-x-${at}`, { packConstraint: { required: keys.rack } }]),
      )
      for (const clique of ['w-0-x-0', 'w-0-x-1']) assert.equal(domains(pods, clique, 'rack').size, 1)
      const set = await harness.set('w')
      const levels = set?.status?.conditions?.find(({ type }) => type === 'TopologyLevelsUnavailable')
      assert.equal(levels?.status, 'False')
    })

    test('T4: gang in one block, group replicas in one rack, cliques on one host', async () => {
      await addSlots(14)
      await harness.apply(
        manifest({
          pack: { required: 'block' },
          cliques: [
            { name: 'lead', replicas: 2, gpus: 2, pack: { required: 'host' } },
            { name: 'work', replicas: 4, gpus: 2, pack: { required: 'host' } },
          ],
          groups: [{ name: 'x', cliques: ['lead', 'work'], replicas: 2, min: 2, pack: { required: 'rack' } }],
        }),
      )
      const pods = await harness.untilReady('w', 12)
      assert.equal(domains(pods, 'w-0', 'block').size, 1)
      for (const at of [0, 1]) {
        assert.equal(domains(pods, `w-0-x-${at}`, 'rack').size, 1)
        for (const clique of ['lead', 'work'])
          assert.equal(domains(pods, `w-0-x-${at}-${clique}`, 'host').size, 1)
      }
    })

    test('T5: scaled gangs take the level of their scaling group', async () => {
      await addSlots(14)
      await harness.apply(
        manifest({
          pack: { required: 'block' },
          cliques: [{ name: 'work', replicas: 3 }],
          groups: [{ name: 'x', cliques: ['work'], replicas: 3, min: 1, pack: { required: 'rack' } }],
        }),
      )
      const pods = await harness.untilReady('w', 9)
      const base = (await untilScheduled('w-0'))!.spec
      assert.equal(base.topologyConstraint?.packConstraint?.required, keys.block)
      assert.equal(base.topologyConstraintGroupConfigs?.length, 1)
      for (const at of [0, 1]) {
        const scaled = (await untilScheduled(`w-0-x-${at}`))!.spec
        assert.equal(scaled.topologyConstraint?.packConstraint?.required, keys.rack)
        assert.equal(scaled.topologyConstraintGroupConfigs, undefined)
      }
      for (const at of [0, 1, 2]) assert.equal(domains(pods, `w-0-x-${at}`, 'rack').size, 1)
    })

    test('T6: scaled gangs fall back to the level of the set', async () => {
      await addSlots(14)
      await harness.apply(
        manifest({
          pack: { required: 'block' },
          cliques: [{ name: 'work', replicas: 2, gpus: 2, pack: { required: 'host' } }],
          groups: [{ name: 'x', cliques: ['work'], replicas: 10, min: 3 }],
        }),
      )
      const pods = await harness.untilReady('w', 20)
      assert.equal((await untilScheduled('w-0'))!.spec.podgroups.length, 3)
      for (let at = 0; at < 7; at++) {
        const { spec } = (await untilScheduled(`w-0-x-${at}`))!
        assert.equal(spec.topologyConstraint?.packConstraint?.required, keys.block)
        assert.equal(spec.podgroups[0]?.topologyConstraint?.packConstraint?.required, keys.host)
      }
      for (let at = 0; at < 10; at++) assert.equal(domains(pods, `w-0-x-${at}-work`, 'host').size, 1)
    })

    test('T7: no pod is scheduled if every rack is too small', async () => {
      await addSlots(14)
      await harness.apply(manifest({ pack: { required: 'rack' }, cliques: [{ name: 'a', replicas: 10 }] }))
      await untilPods(10)
      const condition = await untilWaiting('w-0', 'DomainTooSmall')
      assert.match(condition!.message, /in one rack/)
      assert.equal((await gang('w-0'))!.spec.topologyConstraint?.packConstraint?.required, keys.rack)
      assert.deepEqual(bound(await harness.pods('w')), [])
    })

    test('T8: preferred levels are met where they can be', async () => {
      await addSlots(14)
      await harness.apply(
        manifest({
          pack: { required: 'block', preferred: 'rack' },
          cliques: [
            { name: 'router', replicas: 2, gpus: 2, pack: { preferred: 'host' } },
            { name: 'work', replicas: 2, gpus: 4 },
          ],
          groups: [{ name: 'x', cliques: ['work'], replicas: 2, min: 1, pack: { preferred: 'host' } }],
        }),
      )
      const pods = await harness.untilReady('w', 6)
      const base = (await untilScheduled('w-0'))!
      assert.deepEqual(base.spec.topologyConstraint?.packConstraint, {
        required: keys.block,
        preferred: keys.rack,
      })
      assert.equal(
        base.spec.topologyConstraintGroupConfigs?.[0]?.topologyConstraint?.packConstraint?.preferred,
        keys.host,
      )
      const scaled = (await untilScheduled('w-0-x-0'))!
      assert.deepEqual(scaled.spec.topologyConstraint?.packConstraint, { preferred: keys.host })
      assert.equal(base.status?.placementScore, 1)
      assert.equal(domains(pods, 'w-0-router', 'host').size, 1)
      for (const at of [0, 1]) assert.equal(domains(pods, `w-0-x-${at}`, 'host').size, 1)
    })
  })
}
