// SPDX-License-Identifier: Apache-2.0

// Gangs in the terms of the schedulers that place them. The schedulers themselves are not there: what they would read is.
import assert from 'node:assert/strict'
import { defaultConfiguration, type OperatorConfiguration, podSchedulingGate } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { installStandIn } from '../custom-kinds.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { grouped } from './manifests.ts'

const scheduledBy = (name: string): OperatorConfiguration => ({
  ...defaultConfiguration(),
  scheduler: { profiles: [{ name }, { name: 'default-scheduler' }], defaultProfileName: name },
})

type PodGroup = Stored<KubeObject & { spec?: Record<string, unknown> }>

const podGroups = (stage: Stage, resource: typeof resources.kaiPodGroups): Promise<PodGroup[]> =>
  stage.list(resource, 'grouped')

async function untilPodGroups(stage: Stage, resource: typeof resources.kaiPodGroups, names: string[]) {
  const found = await stage.until(
    `PodGroups ${names.join(', ')}`,
    () => podGroups(stage, resource),
    all =>
      all
        .map(({ metadata }) => metadata.name)
        .sort()
        .join() === names.join(),
  )
  return (name: string) => found.find(({ metadata }) => metadata.name === name)!
}

/** Nobody places them, but they are let go. */
async function untilReleased(stage: Stage, count: number) {
  return stage.until(
    `${count} pods without our gate`,
    () => stage.pods('grouped'),
    pods =>
      pods.length === count &&
      pods.every(pod => !pod.spec?.schedulingGates?.some(({ name }) => name === podSchedulingGate)),
  )
}

const queued = (queue: string) => grouped.replace('{name: grouped}', `{name: grouped, ${queue}}`)
/** Without a scaled gang: its pods would wait for a base gang that nobody places. */
const unscaled = (manifest: string) =>
  manifest.replace('replicas: 2, minAvailable: 1}', 'replicas: 1, minAvailable: 1}')

export const schedulerStories: Story[] = [
  {
    name: 'KAI reads a PodGroup for every gang, which follows it and is mended',
    configuration: scheduledBy('kai-scheduler'),
    async tell(stage) {
      await stage.stopOperator()
      await installStandIn(stage.client, resources.kaiPodGroups)
      await stage.startOperator()
      await stage.apply(unscaled(queued('labels: {kai.scheduler/queue: gpu-a, team: search}')))
      const pods = await untilReleased(stage, 6)
      for (const { metadata, spec } of pods) {
        assert.equal(spec?.schedulerName, 'kai-scheduler')
        assert.equal(metadata.annotations?.['kai.scheduler/skip-podgrouper'], 'true')
        assert.equal(metadata.annotations?.['pod-group-name'], 'grouped-0')
        assert.equal(
          metadata.labels?.['kai.scheduler/subgroup-name'],
          metadata.labels?.['grove.io/podclique'],
        )
      }
      const base = (await untilPodGroups(stage, resources.kaiPodGroups, ['grouped-0']))('grouped-0')
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
      const [gang] = await stage.gangs('grouped')
      assert.equal(base.metadata.ownerReferences?.[0]?.uid, gang!.metadata.uid)

      await stage.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 3)
      const scaled = await untilPodGroups(stage, resources.kaiPodGroups, [
        'grouped-0',
        'grouped-0-eng-0',
        'grouped-0-eng-1',
      ])
      assert.deepEqual(scaled('grouped-0-eng-1').spec!.subGroups, [
        { name: 'grouped-0-eng-2-lead', minMember: 1 },
        { name: 'grouped-0-eng-2-work', minMember: 2 },
      ])
      await stage.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 1)
      await untilPodGroups(stage, resources.kaiPodGroups, ['grouped-0'])

      const ref = { name: 'grouped-0', namespace: stage.namespace }
      const spec = { minMember: 1, queue: 'elsewhere', markUnschedulable: true }
      await stage.client.patch(resources.kaiPodGroups, ref, { merge: { spec } })
      const mended = (await stage.until(
        'the PodGroup to be mended',
        async () => (await podGroups(stage, resources.kaiPodGroups))[0],
        group => group?.spec?.minMember === 4,
      ))!
      // Moved by an administrator, marked by the scheduler: theirs.
      assert.equal(mended.spec!.queue, 'elsewhere')
      assert.equal(mended.spec!.markUnschedulable, true)
      await stage.client.delete(resources.kaiPodGroups, ref)
      await stage.until(
        'the PodGroup to come back',
        async () => (await podGroups(stage, resources.kaiPodGroups))[0],
        group => group !== undefined && group.metadata.uid !== mended.metadata.uid,
      )
      await stage.untilQuiet()
      stage.writes.length = 0
      await stage.patchSet('grouped', { metadata: { annotations: { 'grove.io/reconcile-trigger': 'now' } } })
      await stage.untilQuiet()
      assert.deepEqual(stage.writes, [])
    },
  },
  {
    name: 'a scheduler that is not installed is named, and its gangs go on once it is',
    configuration: scheduledBy('volcano'),
    async tell(stage) {
      await stage.apply(unscaled(queued('annotations: {scheduling.grove.io/volcano-queue: research}')))
      const blocked = await stage.until(
        'the set to say what is missing',
        () => stage.set('grouped'),
        set => (set?.status?.lastErrors ?? []).length > 0,
      )
      const [error] = blocked!.status!.lastErrors!
      assert.equal(error!.code, 'ERR_CREATE_OR_PATCH_PODGANG')
      assert.match(error!.description, /does not serve PodGroup of scheduling.volcano.sh\/v1beta1: install/)
      await installStandIn(stage.client, resources.volcanoPodGroups)
      const pods = await untilReleased(stage, 6)
      for (const { metadata, spec } of pods) {
        assert.equal(spec?.schedulerName, 'volcano')
        assert.equal(metadata.annotations?.['scheduling.volcano.sh/group-name'], 'grouped-0')
        assert.equal(metadata.annotations?.['scheduling.k8s.io/group-name'], 'grouped-0')
      }
      const base = (await untilPodGroups(stage, resources.volcanoPodGroups, ['grouped-0']))('grouped-0')
      assert.equal(base.spec!.minMember, 4)
      assert.equal(base.spec!.queue, 'research')
      assert.deepEqual((base.spec!.subGroupPolicy as object[])[2], {
        name: 'grouped-0-eng-0-work',
        labelSelector: { matchLabels: { 'grove.io/podclique': 'grouped-0-eng-0-work' } },
        matchLabelKeys: ['grove.io/podclique'],
        subGroupSize: 2,
        minSubGroups: 1,
      })
      await stage.until(
        'the error to be gone',
        () => stage.set('grouped'),
        set => (set?.status?.lastErrors ?? []).length === 0,
      )
      // It is watched from now on, although it came after the operator.
      const ref = { name: 'grouped-0', namespace: stage.namespace }
      await stage.until(
        'a PodGroup that somebody edits to be mended',
        async () => {
          const [group] = await podGroups(stage, resources.volcanoPodGroups)
          if (group?.spec?.minMember === 4)
            await stage.client.patch(resources.volcanoPodGroups, ref, { merge: { spec: { minMember: 2 } } })
          await stage.untilQuiet()
          return (await podGroups(stage, resources.volcanoPodGroups))[0]
        },
        group => group?.spec?.minMember === 4,
      )
    },
  },
  {
    name: 'a set some of whose cliques name a scheduler goes on as before when another becomes the default',
    async tell(stage) {
      const named =
        'podSpec: {schedulerName: default-scheduler, containers: [{name: main, image: registry.example/engine:1}]}'
      await stage.apply(
        grouped.replace('podSpec: {containers: [{name: main, image: registry.example/engine:1}]}', named),
      )
      const before = await stage.untilReady('grouped', 10)
      await stage.restartOperator(scheduledBy('kai-scheduler'))
      await stage.edit('grouped', set => {
        set.spec.template.cliques[0]!.spec.podSpec.containers[0]!.image = 'registry.example/router:2'
      })
      const after = await stage.until(
        'both routers to be updated',
        () => stage.untilReady('grouped', 10),
        pods =>
          pods.filter(pod => pod.spec?.containers[0]?.image === 'registry.example/router:2').length === 2,
      )
      assert.ok(after.every(pod => pod.spec?.schedulerName === 'default-scheduler'))
      const kept = after.filter(({ metadata }) => before.some(pod => pod.metadata.uid === metadata.uid))
      assert.equal(kept.length, 8)
    },
  },
]
