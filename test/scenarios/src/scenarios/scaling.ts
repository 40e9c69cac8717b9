// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { label, type Pod, podSchedulingGate } from '@grove/api'
import { getScale, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { report } from './gang-termination.ts'
import { grouped, solo } from './manifests.ts'

const indexesOf = (pods: readonly Pod[]) =>
  pods.map(({ metadata }) => metadata.labels?.[label.podIndex]).sort()

/** Returns the table of `kubectl get -o wide` without the age, one line per object. */
async function table(
  harness: Harness,
  { group, version, resource }: Resource<KubeObject>,
): Promise<string[]> {
  const shown = (await harness.client.raw({
    verb: 'list',
    method: 'GET',
    path: `/apis/${group}/${version}/namespaces/${harness.namespace}/${resource}`,
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  })) as { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] }
  const line = (cells: readonly unknown[]) =>
    cells
      .slice(0, -1)
      .map(cell => cell ?? '')
      .join(' ')
  return [
    line(shown.columnDefinitions.map(({ name }) => name)),
    ...shown.rows.map(({ cells }) => line(cells)).sort(),
  ]
}

const untilShown = (harness: Harness, resource: Resource<KubeObject>, lines: readonly string[]) =>
  harness.until(
    `the table of ${resource.resource}`,
    () => table(harness, resource),
    seen => seen.join('\n') === lines.join('\n'),
  )

const uids = (pods: readonly Stored<Pod>[]) => new Set(pods.map(pod => pod.metadata.uid))

export const scalingScenarios: Scenario[] = [
  {
    name: 'scale-out and scale-in of a set keep the pods of the other replicas and delete all objects of the removed ones',
    async run(harness) {
      await harness.apply(solo)
      const first = uids(await harness.untilReady('solo', 2))
      await harness.scale(resources.podCliqueSets, 'solo', 3)
      const three = await harness.untilReady('solo', 6)
      for (const uid of first) assert.ok(uids(three).has(uid))
      await harness.untilAvailable('solo', 3)
      await harness.scale(resources.podCliqueSets, 'solo', 1)
      const one = await harness.untilReady('solo', 2)
      assert.deepEqual(uids(one), first)
      for (const resource of [resources.podCliques, resources.podGangs, resources.services])
        await harness.until(
          `one ${resource.kind} left`,
          () => harness.list(resource as never, 'solo'),
          found => found.length === 1,
        )
      await harness.untilAvailable('solo', 1)
    },
  },
  {
    name: 'a set is scaled to zero and back',
    async run(harness) {
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
      await harness.scale(resources.podCliqueSets, 'solo', 0)
      await harness.untilReady('solo', 0)
      await harness.until(
        'no clique left',
        () => harness.cliques('solo'),
        found => found.length === 0,
      )
      await harness.untilAvailable('solo', 0)
      await harness.scale(resources.podCliqueSets, 'solo', 2)
      await harness.untilReady('solo', 4)
    },
  },
  {
    name: 'scale-out and scale-in of a group create and delete one gang and change nothing else',
    async run(harness) {
      await harness.apply(grouped)
      const first = uids(await harness.untilReady('grouped', 10))
      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 3)
      const more = await harness.untilReady('grouped', 14)
      for (const uid of first) assert.ok(uids(more).has(uid))
      await harness.until(
        'three gangs',
        () => harness.gangs('grouped'),
        gangs => gangs.length === 3,
      )
      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 1)
      await harness.untilReady('grouped', 6)
      await harness.until(
        'only the base gang',
        () => harness.gangs('grouped'),
        gangs => gangs.length === 1,
      )
      await harness.until(
        'the status to be up to date',
        () => harness.groups('grouped'),
        ([group]) => group?.status?.availableReplicas === 1,
      )
    },
  },
  {
    name: 'a manually scaled clique does not return to the size of the template',
    async run(harness) {
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
      await harness.scale(resources.podCliques, 'solo-0-web', 4)
      await harness.untilReady('solo', 4)
      const set = await harness.set('solo')
      const cliques = structuredClone(set!.spec.template.cliques)
      cliques[0]!.spec.replicas = 3
      await harness.patchSet('solo', { spec: { template: { cliques } } })
      await harness.until(
        'the edit to be observed',
        () => harness.set('solo'),
        seen => seen?.status?.observedGeneration === seen?.metadata.generation,
      )
      await harness.untilQuiet()
      assert.equal((await harness.cliques('solo'))[0]!.spec.replicas, 4)
      await harness.scale(resources.podCliques, 'solo-0-web', 1)
      await harness.untilReady('solo', 1)
    },
  },
  {
    name: 'scale-in of a clique deletes pods in deletion order; scale-out fills the holes; zero is a valid size',
    async run(harness) {
      const web = { name: 'solo-0-web', namespace: harness.namespace }
      const clique = () => harness.client.get(resources.podCliques, web)
      const scaleTo = (replicas: number) => harness.scale(resources.podCliques, web.name, replicas)
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
      await scaleTo(4)
      const four = await harness.untilReady('solo', 4)
      assert.deepEqual(indexesOf(four), ['0', '1', '2', '3'])
      await report(harness, four.find(pod => pod.metadata.labels?.[label.podIndex] === '1')!, false)
      await harness.until('three ready pods', clique, ({ status }) => status?.readyReplicas === 3)
      await scaleTo(3)
      const three = await harness.untilReady('solo', 3)
      assert.deepEqual(indexesOf(three), ['0', '2', '3'])
      await scaleTo(5)
      const five = await harness.untilReady('solo', 5)
      assert.deepEqual(indexesOf(five), ['0', '1', '2', '3', '4'])
      for (const uid of uids(three)) assert.ok(uids(five).has(uid))
      await scaleTo(0)
      await harness.untilReady('solo', 0)
      const { status } = await harness.until(
        'the status of the clique',
        clique,
        seen =>
          seen.status?.scheduledReplicas === 0 && seen.status.observedGeneration === seen.metadata.generation,
      )
      const breach = status?.conditions?.find(({ type }) => type === 'MinAvailableBreached')
      assert.deepEqual([breach?.status, breach?.reason], ['False', 'InsufficientScheduledPods'])
      assert.match(breach!.message, /^Scaled to zero/)
      const scale = await getScale(harness.client, resources.podCliques, web)
      assert.equal(scale.status.replicas, 0)
      assert.match(scale.status.selector ?? '', /,grove.io\/podclique=solo-0-web$/)
      await scaleTo(2)
      assert.deepEqual(indexesOf(await harness.untilReady('solo', 2)), ['0', '1'])
      await harness.untilAvailable('solo', 1)
    },
  },
  {
    name: 'a clique below its minimum holds back only the scaled gangs, and its table shows this',
    async run(harness) {
      await harness.apply(grouped)
      const before = await harness.untilReady('grouped', 10)
      const cliques = (router: string, lead: string) => [
        'Name MinAvail Replicas Ready Scheduled Updated Gated MinBreached',
        'grouped-0-eng-0-lead 1 1 1 1 1 0 False',
        'grouped-0-eng-0-work 2 3 3 3 3 0 False',
        `grouped-0-eng-1-lead ${lead}`,
        'grouped-0-eng-1-work 2 3 3 3 3 0 False',
        `grouped-0-router ${router}`,
      ]
      const groups = (counts: string) => [
        'Name MinAvail Replicas Available Scheduled Updated PCLQs-Updated PCLQs-Total MinBreached',
        `grouped-0-eng ${counts}`,
      ]
      await untilShown(harness, resources.podCliques, cliques('1 2 2 2 2 0 False', '1 1 1 1 1 0 False'))
      await untilShown(harness, resources.podCliqueScalingGroups, groups('1 2 2 2 2   False'))
      await harness.scale(resources.podCliques, 'grouped-0-router', 0)
      await harness.until(
        'no router',
        () => harness.cliques('grouped'),
        all =>
          all.every(
            ({ metadata, status }) => metadata.name !== 'grouped-0-router' || !status?.scheduledReplicas,
          ),
      )
      const lose = (clique: string) =>
        harness.deletePod(
          before.find(({ metadata }) => metadata.labels?.[label.podClique] === clique)!.metadata.name,
        )
      await lose('grouped-0-eng-1-lead')
      await lose('grouped-0-eng-0-lead')
      const gated = (pods: readonly Pod[]) =>
        pods
          .filter(({ spec }) => spec?.schedulingGates?.some(({ name }) => name === podSchedulingGate))
          .map(({ metadata }) => metadata.labels?.[label.podClique])
      // Tables show lost pods until the operator has observed the loss.
      await harness.until(
        'the lead of the base gang to be recreated, and that of the scaled gang to stay gated',
        () => harness.pods('grouped'),
        pods =>
          pods.length === 8 &&
          pods.filter(isReady).length === 7 &&
          pods.filter(({ metadata }) => !uids(before).has(metadata.uid)).length === 2 &&
          gated(pods).length === 1,
      )
      await untilShown(harness, resources.podCliques, cliques('1 0 0 0 0 0 False', '1 1 0 0 1 1 False'))
      await untilShown(harness, resources.podCliqueScalingGroups, groups('1 2 1 1 1   False'))
      assert.deepEqual(gated(await harness.pods('grouped')), ['grouped-0-eng-1-lead'])
      await harness.scale(resources.podCliques, 'grouped-0-router', 1)
      await harness.untilReady('grouped', 9)
      await untilShown(harness, resources.podCliques, cliques('1 1 1 1 1 0 False', '1 1 1 1 1 0 False'))
      await harness.untilAvailable('grouped', 1)
    },
  },
  {
    name: 'a group below its minimum reports this, keeps its replicas, and recovers completely',
    async run(harness) {
      const breach = async () => {
        const [group] = await harness.groups('grouped')
        const found = group?.status?.conditions?.find(({ type }) => type === 'MinAvailableBreached')
        return `${found?.status} ${found?.reason} ${found?.message}`
      }
      const isOfFirst = ({ metadata }: Pod) => metadata.name.startsWith('grouped-0-eng-0-')
      await harness.apply(grouped.replace('replicas: 2, minAvailable: 1}', 'replicas: 3, minAvailable: 2}'))
      const first = (await harness.untilReady('grouped', 14)).filter(isOfFirst)
      await harness.untilAvailable('grouped', 1)
      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 1)
      await harness.untilReady('grouped', 6)
      await harness.until(
        'the condition of the group',
        breach,
        said =>
          said === 'True ScheduledReplicasBelowMinAvailable Scheduled replicas (1) below MinAvailable (2)',
      )
      await harness.untilAvailable('grouped', 0)
      await harness.restartOperator()
      await harness.deletePod(first[0]!.metadata.name)
      const six = await harness.until(
        'a replacement of the pod',
        () => harness.untilReady('grouped', 6),
        pods => !uids(pods).has(first[0]!.metadata.uid),
      )
      for (const { metadata } of first.slice(1)) assert.ok(uids(six).has(metadata.uid))
      assert.deepEqual(
        (await harness.gangs('grouped')).map(({ metadata }) => metadata.name),
        ['grouped-0'],
      )
      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 3)
      const all = await harness.untilReady('grouped', 14)
      for (const { metadata } of six) assert.ok(uids(all).has(metadata.uid))
      await harness.until(
        'the group to recover',
        breach,
        said =>
          said ===
          'False SufficientAvailablePodCliqueScalingGroupReplicas PCSG replicas not in breach (3) meets MinAvailable (2)',
      )
      await harness.untilAvailable('grouped', 1)
    },
  },
]
