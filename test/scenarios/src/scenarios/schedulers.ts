// SPDX-License-Identifier: Apache-2.0

// The objects that the operator creates for gang schedulers. The schedulers are not installed; the test reads the
// objects instead.
import assert from 'node:assert/strict'
import { defaultConfiguration, type OperatorConfiguration, podSchedulingGate } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { installStandIn } from '../custom-kinds.ts'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped } from './manifests.ts'

const scheduledBy = (name: string): OperatorConfiguration => ({
  ...defaultConfiguration(),
  scheduler: { profiles: [{ name }, { name: 'default-scheduler' }], defaultProfileName: name },
})

type PodGroup = Stored<KubeObject & { spec?: Record<string, unknown> }>

const podGroups = (harness: Harness, resource: typeof resources.kaiPodGroups): Promise<PodGroup[]> =>
  harness.list(resource, 'grouped')

async function untilPodGroups(harness: Harness, resource: typeof resources.kaiPodGroups, names: string[]) {
  const found = await harness.until(
    `PodGroups ${names.join(', ')}`,
    () => podGroups(harness, resource),
    all =>
      all
        .map(({ metadata }) => metadata.name)
        .sort()
        .join() === names.join(),
  )
  return (name: string) => found.find(({ metadata }) => metadata.name === name)!
}

/** Pods that stay pending because their scheduler is not installed. Their gates are removed. */
async function untilReleased(harness: Harness, count: number) {
  return harness.until(
    `${count} pods without the Grove gate`,
    () => harness.pods('grouped'),
    pods =>
      pods.length === count &&
      pods.every(pod => !pod.spec?.schedulingGates?.some(({ name }) => name === podSchedulingGate)),
  )
}

const queued = (queue: string) => grouped.replace('{name: grouped}', `{name: grouped, ${queue}}`)
/** No scaled gang: its pods would wait for a base gang that is never scheduled. */
const unscaled = (manifest: string) =>
  manifest.replace('replicas: 2, minAvailable: 1}', 'replicas: 1, minAvailable: 1}')

export const schedulerScenarios: Scenario[] = [
  {
    name: 'KAI: every gang has a PodGroup, which follows the gang and is repaired',
    configuration: scheduledBy('kai-scheduler'),
    async run(harness) {
      await harness.stopOperator()
      await installStandIn(harness.client, resources.kaiPodGroups)
      await harness.startOperator()
      await harness.apply(unscaled(queued('labels: {kai.scheduler/queue: gpu-a, team: search}')))
      const pods = await untilReleased(harness, 6)
      for (const { metadata, spec } of pods) {
        assert.equal(spec?.schedulerName, 'kai-scheduler')
        assert.equal(metadata.annotations?.['kai.scheduler/skip-podgrouper'], 'true')
        assert.equal(metadata.annotations?.['pod-group-name'], 'grouped-0')
        assert.equal(
          metadata.labels?.['kai.scheduler/subgroup-name'],
          metadata.labels?.['grove.io/podclique'],
        )
      }
      const base = (await untilPodGroups(harness, resources.kaiPodGroups, ['grouped-0']))('grouped-0')
      assert.deepEqual(base.spec, {
        minMember: 4,
        queue: 'gpu-a',
        topologyConstraint: {},
        subGroups: [
          { name: 'grouped-0-router', minMember: 1 },
          { name: 'grouped-0-eng-0-lead', minMember: 1 },
          { name: 'grouped-0-eng-0-work', minMember: 2 },
        ],
      })
      assert.equal(base.metadata.labels?.team, 'search')
      const [gang] = await harness.gangs('grouped')
      assert.equal(base.metadata.ownerReferences?.[0]?.uid, gang!.metadata.uid)

      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 3)
      const scaled = await untilPodGroups(harness, resources.kaiPodGroups, [
        'grouped-0',
        'grouped-0-eng-0',
        'grouped-0-eng-1',
      ])
      assert.deepEqual(scaled('grouped-0-eng-1').spec!.subGroups, [
        { name: 'grouped-0-eng-2-lead', minMember: 1 },
        { name: 'grouped-0-eng-2-work', minMember: 2 },
      ])
      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 1)
      await untilPodGroups(harness, resources.kaiPodGroups, ['grouped-0'])

      const ref = { name: 'grouped-0', namespace: harness.namespace }
      const spec = { minMember: 1, queue: 'elsewhere', markUnschedulable: true }
      await harness.client.patch(resources.kaiPodGroups, ref, { merge: { spec } })
      const repaired = (await harness.until(
        'the PodGroup to be repaired',
        async () => (await podGroups(harness, resources.kaiPodGroups))[0],
        group => group?.spec?.minMember === 4,
      ))!
      // Fields of the administrator and of the scheduler are kept.
      assert.equal(repaired.spec!.queue, 'elsewhere')
      assert.equal(repaired.spec!.markUnschedulable, true)
      await harness.client.delete(resources.kaiPodGroups, ref)
      await harness.until(
        'the PodGroup to be recreated',
        async () => (await podGroups(harness, resources.kaiPodGroups))[0],
        group => group !== undefined && group.metadata.uid !== repaired.metadata.uid,
      )
      await harness.untilQuiet()
      harness.writes.length = 0
      await harness.patchSet('grouped', {
        metadata: { annotations: { 'grove.io/reconcile-trigger': 'now' } },
      })
      await harness.untilQuiet()
      assert.deepEqual(harness.writes, [])
    },
  },
  {
    name: 'reports a scheduler that is not installed, and continues when it is installed',
    configuration: scheduledBy('volcano'),
    async run(harness) {
      await harness.apply(unscaled(queued('annotations: {scheduling.grove.io/volcano-queue: research}')))
      const blocked = await harness.until(
        'the set to report the missing resource',
        () => harness.set('grouped'),
        set => (set?.status?.lastErrors ?? []).length > 0,
      )
      const [error] = blocked!.status!.lastErrors!
      assert.equal(error!.code, 'ERR_CREATE_OR_PATCH_PODGANG')
      assert.match(error!.description, /does not serve PodGroup of scheduling.volcano.sh\/v1beta1: install/)
      await installStandIn(harness.client, resources.volcanoPodGroups)
      const pods = await untilReleased(harness, 6)
      for (const { metadata, spec } of pods) {
        assert.equal(spec?.schedulerName, 'volcano')
        assert.equal(metadata.annotations?.['scheduling.volcano.sh/group-name'], 'grouped-0')
        assert.equal(metadata.annotations?.['scheduling.k8s.io/group-name'], 'grouped-0')
      }
      const base = (await untilPodGroups(harness, resources.volcanoPodGroups, ['grouped-0']))('grouped-0')
      assert.equal(base.spec!.minMember, 4)
      assert.equal(base.spec!.queue, 'research')
      assert.deepEqual((base.spec!.subGroupPolicy as object[])[2], {
        name: 'grouped-0-eng-0-work',
        labelSelector: { matchLabels: { 'grove.io/podclique': 'grouped-0-eng-0-work' } },
        matchLabelKeys: ['grove.io/podclique'],
        subGroupSize: 2,
        minSubGroups: 1,
      })
      await harness.until(
        'the error to be removed',
        () => harness.set('grouped'),
        set => (set?.status?.lastErrors ?? []).length === 0,
      )
      // The operator watches the kind, although it was installed after the operator started.
      const ref = { name: 'grouped-0', namespace: harness.namespace }
      await harness.until(
        'an edited PodGroup to be repaired',
        async () => {
          const [group] = await podGroups(harness, resources.volcanoPodGroups)
          if (group?.spec?.minMember === 4)
            await harness.client.patch(resources.volcanoPodGroups, ref, { merge: { spec: { minMember: 2 } } })
          await harness.untilQuiet()
          return (await podGroups(harness, resources.volcanoPodGroups))[0]
        },
        group => group?.spec?.minMember === 4,
      )
    },
  },
  {
    name: 'a set that names a scheduler in some cliques is unchanged when the default scheduler changes',
    async run(harness) {
      const named =
        'podSpec: {schedulerName: default-scheduler, containers: [{name: main, image: registry.example/engine:1}]}'
      await harness.apply(
        grouped.replace('podSpec: {containers: [{name: main, image: registry.example/engine:1}]}', named),
      )
      const before = await harness.untilReady('grouped', 10)
      await harness.restartOperator(scheduledBy('kai-scheduler'))
      await harness.edit('grouped', set => {
        set.spec.template.cliques[0]!.spec.podSpec.containers[0]!.image = 'registry.example/router:2'
      })
      const after = await harness.until(
        'both routers to be updated',
        () => harness.untilReady('grouped', 10),
        pods =>
          pods.filter(pod => pod.spec?.containers[0]?.image === 'registry.example/router:2').length === 2,
      )
      assert.ok(after.every(pod => pod.spec?.schedulerName === 'default-scheduler'))
      const kept = after.filter(({ metadata }) => before.some(pod => pod.metadata.uid === metadata.uid))
      assert.equal(kept.length, 8)
    },
  },
]
