// SPDX-License-Identifier: Apache-2.0

// The gates of a gang are removed together: at its creation, when it is recreated, and for scaled gangs after their
// base gang.
import assert from 'node:assert/strict'
import { annotation, type Condition, defaultConfiguration, type Pod, podSchedulingGate } from '@grove/api'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'

const priorityClasses = defineResource<KubeObject>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
})

const nodes = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})

const isGated = ({ spec }: Pod) =>
  spec?.schedulingGates?.some(({ name }) => name === podSchedulingGate) ?? false
const ofClique = (pods: readonly Pod[], clique: string) =>
  pods.filter(pod => pod.metadata.labels?.['grove.io/podclique'] === clique)

async function initialized(harness: Harness, gang: string): Promise<Condition | undefined> {
  const ref = { name: gang, namespace: harness.namespace }
  const found = await harness.client.find(resources.podGangs, ref)
  return found?.status?.conditions?.find(({ type }) => type === 'Initialized')
}

const untilInitialized = (harness: Harness, gang: string, reason: string) =>
  harness.until(
    `${gang} to be ${reason}`,
    () => initialized(harness, gang),
    condition => condition?.reason === reason,
  )

/** Front pods can always be created, engine pods only when a priority class exists. */
const halfPossible = (priorityClassName: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: half}
spec:
  replicas: 1
  template:
    cliques:
      - name: front
        spec:
          roleName: front
          replicas: 2
          podSpec: {containers: [{name: main, image: registry.example/front:1}]}
      - name: engine
        spec:
          roleName: engine
          replicas: 2
          podSpec:
            priorityClassName: ${priorityClassName}
            containers: [{name: main, image: registry.example/engine:1}]
`

export const gangScenarios: Scenario[] = [
  {
    name: 'removes no gate of a gang before all its pods exist, at its creation and when it is recreated',
    async run(harness) {
      const { client, namespace } = harness
      const priority = { name: `of-${namespace}` }
      let times = 0
      const allow = async () => {
        await client.create(priorityClasses, {
          apiVersion: 'scheduling.k8s.io/v1',
          kind: 'PriorityClass',
          metadata: priority,
          value: 7,
        } as KubeObject)
        // Creation is retried with growing delays; a trigger retries it now.
        const trigger = { [annotation.reconcileTrigger]: String(++times) }
        await harness.patchSet('half', { metadata: { annotations: trigger } })
      }
      await harness.apply(halfPossible(priority.name))
      const first = await untilInitialized(harness, 'half-0', 'PodGangPodsCreationPending')
      assert.equal(first!.message, 'PodClique half-0-engine has 0 of 2 pods')
      const rejected = await harness.until(
        'the clique to report why its pods cannot be created',
        () => client.get(resources.podCliques, { name: 'half-0-engine', namespace }),
        clique => (clique.status?.lastErrors ?? []).length > 0,
      )
      assert.match(rejected.status!.lastErrors![0]!.description, /no PriorityClass with name of-/)
      const front = await harness.pods('half')
      assert.deepEqual(front.map(isGated), [true, true])
      await allow()
      await harness.untilReady('half', 4)
      await untilInitialized(harness, 'half-0', 'PodGangPodsCreated')
      const ref = { name: 'half-0', namespace }
      const disrupted: Condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'Preempted',
        message: 'by its scheduler',
        lastTransitionTime: '2030-01-01T00:00:00Z',
      }
      const before = (await client.get(resources.podGangs, ref)).status!
      await client.patch(
        resources.podGangs,
        ref,
        { merge: { status: { placementScore: 0.5, conditions: [...before.conditions!, disrupted] } } },
        { subresource: 'status' },
      )

      await client.delete(priorityClasses, priority)
      await client.delete(resources.podCliques, { name: 'half-0-engine', namespace })
      const victim = ofClique(await harness.pods('half'), 'half-0-front')[0]!
      await harness.deletePod(victim.metadata.name)
      const lost = await untilInitialized(harness, 'half-0', 'PodGangPodsLost')
      assert.match(lost!.message, /PodClique half-0-engine has 0 of the 2 pods that it needs at least/)
      const pods = await harness.until(
        'another front pod',
        () => harness.pods('half'),
        seen => seen.length === 2 && seen.every(pod => pod.metadata.uid !== victim.metadata.uid),
      )
      const fresh = pods.filter(pod => !front.some(old => old.metadata.uid === pod.metadata.uid))
      assert.deepEqual(fresh.map(isGated), [true], 'the pod waits for the engine clique')
      const { spec } = await client.get(resources.podGangs, ref)
      const listed = spec.podgroups.flatMap(group => group.podReferences.map(({ name }) => name))
      assert.deepEqual(
        listed,
        pods.filter(pod => !fresh.includes(pod)).map(({ metadata }) => metadata.name),
        'the gang lists the existing pods of its groups, and no gated or deleted pod',
      )

      await allow()
      const ready = await harness.untilReady('half', 4)
      await untilInitialized(harness, 'half-0', 'PodGangPodsCreated')
      const { status, spec: whole } = await client.get(resources.podGangs, ref)
      assert.equal(status?.placementScore, 0.5, 'status fields of the scheduler are kept')
      assert.deepEqual(
        status?.conditions?.find(({ type }) => type === 'DisruptionTarget'),
        disrupted,
      )
      assert.deepEqual(
        whole.podgroups.flatMap(group => group.podReferences.map(({ name }) => name)).sort(),
        ready.map(({ metadata }) => metadata.name).sort(),
      )
      await client.delete(priorityClasses, priority)
    },
  },
  {
    name: 'pods of a scaled gang keep their gate until the minimum of the base gang is scheduled',
    async run(harness) {
      const { client, namespace } = harness
      const selector = `nodeSelector: {scenario: ${namespace}}, containers`
      await harness.apply(grouped.replaceAll('containers', selector))
      await untilInitialized(harness, 'grouped-0', 'PodGangPodsCreated')
      await untilInitialized(harness, 'grouped-0-eng-0', 'PodGangPodsCreated')
      const isScaled = (pod: Pod) => pod.metadata.labels?.['grove.io/base-podgang'] === 'grouped-0'
      const pods = await harness.until(
        'the gates of the base gang to be removed',
        () => harness.pods('grouped'),
        seen => seen.filter(pod => !isGated(pod)).length === 6,
      )
      assert.deepEqual(
        pods.filter(isScaled).map(isGated),
        [true, true, true, true],
        'no pod of the base gang is scheduled',
      )
      const node = (await client.list(nodes)).items[0]!
      await client.patch(nodes, node.metadata, { merge: { metadata: { labels: { scenario: namespace } } } })
      await harness.untilReady('grouped', 10)
      // Reverts the change: scheduled pods stay, and the gates of recreated pods are removed.
      await client.patch(nodes, node.metadata, { merge: { metadata: { labels: { scenario: null } } } })
      const lead = ofClique(await harness.pods('grouped'), 'grouped-0-eng-0-lead')[0]!
      await harness.deletePod(lead.metadata.name)
      const again = await harness.until(
        'the lead of the base gang to be recreated without a gate',
        async () => ofClique(await harness.pods('grouped'), 'grouped-0-eng-0-lead'),
        seen => seen.length === 1 && seen[0]!.metadata.uid !== lead.metadata.uid && !isGated(seen[0]!),
      )
      assert.equal(again[0]!.spec?.nodeName, undefined)
      const worker = ofClique(await harness.pods('grouped'), 'grouped-0-eng-1-work')[0]!
      await harness.deletePod(worker.metadata.name)
      const held = await harness.until(
        'a worker of the scaled gang to be recreated',
        async () => ofClique(await harness.pods('grouped'), 'grouped-0-eng-1-work'),
        seen => seen.length === 3 && seen.every(({ metadata }) => metadata.uid !== worker.metadata.uid),
      )
      await harness.untilQuiet()
      const now = ofClique(await harness.pods('grouped'), 'grouped-0-eng-1-work')
      assert.equal(held.length, now.length)
      assert.equal(now.filter(isGated).length, 1, 'the pod waits for the base gang, the others are unchanged')
      await client.patch(nodes, node.metadata, { merge: { metadata: { labels: { scenario: namespace } } } })
      await harness.untilReady('grouped', 10)
      await client.patch(nodes, node.metadata, { merge: { metadata: { labels: { scenario: null } } } })
    },
  },
  {
    name: 'a recreated gang does not wait for group replicas that a user scaled away',
    async run(harness) {
      const { client, namespace } = harness
      await harness.apply(grouped.replace('minAvailable: 1}', 'minAvailable: 2}'))
      await harness.untilReady('grouped', 10)
      await harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 1)
      await harness.untilReady('grouped', 6)
      const [before] = await harness.gangs('grouped')
      await client.delete(resources.podGangs, { name: 'grouped-0', namespace })
      await harness.until(
        'another gang',
        () => harness.gangs('grouped'),
        ([gang]) => gang !== undefined && gang.metadata.uid !== before!.metadata.uid,
      )
      const router = ofClique(await harness.pods('grouped'), 'grouped-0-router')[0]!
      await harness.deletePod(router.metadata.name)
      await harness.until(
        'another router',
        () => harness.pods('grouped'),
        pods => pods.length === 6 && pods.every(({ metadata }) => metadata.uid !== router.metadata.uid),
      )
      await harness.untilReady('grouped', 6)
      await untilInitialized(harness, 'grouped-0', 'PodGangPodsCreated')
    },
  },
  {
    name: 'a set keeps its scheduler when the default scheduler of the operator changes',
    async run(harness) {
      await harness.apply(solo)
      const before = await harness.untilReady('solo', 2)
      await harness.restartOperator({
        ...defaultConfiguration(),
        scheduler: {
          profiles: [{ name: 'default-scheduler' }, { name: 'lpx-scheduler' }],
          defaultProfileName: 'lpx-scheduler',
        },
      })
      await harness.deletePod(before[0]!.metadata.name)
      await harness.until(
        'a replacement of the pod',
        () => harness.pods('solo'),
        pods => pods.length === 2 && pods.every(({ metadata }) => metadata.uid !== before[0]!.metadata.uid),
      )
      await harness.patchSet('solo', { metadata: { labels: { seen: 'yes' } } })
      const gangs = await harness.until(
        'the gang to be reconciled',
        () => harness.gangs('solo'),
        ([gang]) => gang?.metadata.labels?.seen === 'yes',
      )
      assert.equal(gangs[0]!.metadata.labels?.['grove.io/scheduler-name'], 'default-scheduler')
      const pods = await harness.untilReady('solo', 2)
      assert.deepEqual(
        pods.map(({ spec }) => spec?.schedulerName),
        ['default-scheduler', 'default-scheduler'],
      )
      await harness.apply(solo.replace('{name: solo}', '{name: later}'))
      const later = await harness.until(
        'pods of a set that was created later',
        () => harness.pods('later'),
        seen => seen.length === 2,
      )
      assert.deepEqual(
        later.map(({ spec }) => spec?.schedulerName),
        ['lpx-scheduler', 'lpx-scheduler'],
      )
    },
  },
]
