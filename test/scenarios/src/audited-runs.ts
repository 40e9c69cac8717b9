// SPDX-License-Identifier: Apache-2.0

// Runs that together use every feature of the operator.
import { type Pod, type PodCliqueSet, type Role, scheduler } from '@grove/api'
import { type Client, defineResource, type KubeObject, type Resource } from '@grove/kube'
import { resources } from '@grove/operator'
import { installStandIn } from './custom-kinds.ts'
import type { Harness } from './harness.ts'
import { report } from './scenarios/gang-termination.ts'
import { grouped, solo } from './scenarios/manifests.ts'

const volcanoQueues = defineResource<KubeObject>({
  group: 'scheduling.volcano.sh',
  version: 'v1beta1',
  resource: 'queues',
  kind: 'Queue',
  namespaced: false,
})

/** Installs the custom resources of drivers and schedulers. */
async function install(client: Client): Promise<void> {
  for (const resource of [
    resources.computeDomains,
    resources.kaiPodGroups,
    resources.kaiTopologies,
    volcanoQueues,
  ])
    await installStandIn(client, resource as Resource<KubeObject>)
  // As in Volcano 1.14. The operator reads this schema when it starts.
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await installStandIn(client, resources.volcanoPodGroups as Resource<KubeObject>, {
    ...anything,
    properties: {
      spec: { ...anything, properties: { subGroupPolicy: { type: 'array', items: anything } } },
    },
  })
  await client.create(volcanoQueues, {
    apiVersion: 'scheduling.volcano.sh/v1beta1',
    kind: 'Queue',
    metadata: { name: 'default' },
    status: { state: 'Open' },
  } as KubeObject)
}

const named = (manifest: string, name: string) =>
  manifest.replace(/metadata: \{name: \w+/, `metadata: {name: ${name}`)
const impatient = (manifest: string) => manifest.replace('template:', 'template:\n    terminationDelay: 2s')
const withImage = (set: PodCliqueSet, image: string) => {
  set.spec.template.cliques[0]!.spec.podSpec.containers[0]!.image = image
}

async function untilGone(harness: Harness, set: string): Promise<void> {
  await harness.deleteSet(set)
  for (const resource of [
    resources.pods,
    resources.podCliques,
    resources.podCliqueScalingGroups,
    resources.podGangs,
    resources.resourceClaims,
    resources.computeDomains,
  ] as Resource<KubeObject>[])
    await harness.until(
      `no ${resource.kind} of ${set}`,
      () => harness.list(resource, set),
      found => found.length === 0,
    )
}

/** Deploys, scales, updates, terminates and deletes a set. */
async function everyday(harness: Harness): Promise<void> {
  await harness.apply(impatient(grouped))
  await harness.untilReady('grouped', 10)
  await harness.scale(resources.podCliqueScalingGroups as Resource<KubeObject>, 'grouped-0-eng', 3)
  await harness.untilReady('grouped', 14)
  await harness.client.patch(
    resources.podCliqueScalingGroups,
    { name: 'grouped-0-eng', namespace: harness.namespace },
    { merge: { metadata: { labels: { 'app.kubernetes.io/component': 'stray' } } } },
  )
  await harness.scale(resources.podCliqueScalingGroups as Resource<KubeObject>, 'grouped-0-eng', 1)
  await harness.untilReady('grouped', 6)
  await harness.edit('grouped', set => {
    set.spec.replicas = 2
  })
  await harness.untilReady('grouped', 16)
  await harness.edit('grouped', set => {
    set.spec.replicas = 1
    withImage(set, 'registry.example/router:2')
  })
  const isNew = (pod: Pod) => pod.spec?.containers[0]?.image === 'registry.example/router:2'
  await harness.until(
    'two updated routers',
    () => harness.pods('grouped'),
    pods => pods.length === 6 && pods.filter(isNew).length === 2,
  )
  await harness.untilAvailable('grouped', 1)
  const before = await harness.untilReady('grouped', 6)
  const leader = before.find(pod => pod.metadata.labels?.['grove.io/podclique'] === 'grouped-0-eng-0-lead')!
  await report(harness, leader, false)
  await harness.until(
    'only new pods after the replica was terminated',
    () => harness.pods('grouped'),
    pods =>
      pods.length === 6 && pods.every(pod => before.every(old => old.metadata.uid !== pod.metadata.uid)),
  )
  await harness.untilReady('grouped', 6)
  await untilGone(harness, 'grouped')
}

/** Edits every kind of child, and changes the template and reverts it. */
async function meddled(harness: Harness): Promise<void> {
  const { client, namespace } = harness
  const name = 'meddled'
  const inOrder = named(solo, name)
    .replace(
      'template:',
      'updateStrategy: {type: OnDelete}\n  template:\n    cliqueStartupType: CliqueStartupTypeInOrder',
    )
    .concat(`
      - name: second
        spec: {roleName: second, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/s:1}]}}
`)
  await harness.apply(inOrder)
  await harness.until(
    'three pods',
    () => harness.pods(name),
    pods => pods.length === 3,
  )
  const identity = { name: `grove.io:pcs:${name}`, namespace }
  const stray = { merge: { metadata: { labels: { 'app.kubernetes.io/component': 'stray' } } } }
  for (const [resource, ref] of [
    [resources.roles, identity],
    [resources.roleBindings, identity],
    [resources.serviceAccounts, { name, namespace }],
    [resources.services, { name: `${name}-0`, namespace }],
    [resources.podGangs, { name: `${name}-0`, namespace }],
  ] as [Resource<KubeObject>, { name: string; namespace: string }][]) {
    await harness.until(
      `${resource.kind} ${ref.name}`,
      () => harness.list(resource, name),
      found => found.some(one => one.metadata.name === ref.name),
    )
    await client.patch(resource, ref, stray)
  }
  await client.patch(resources.roles as Resource<Role>, identity, { merge: { rules: [] } })
  for (const version of [2, 1, 3, 4])
    await harness.edit(name, set => withImage(set, `registry.example/web:${version}`))
  await client.patch(resources.podCliqueSets, { name, namespace }, stray)
  await harness.until(
    'few revisions',
    () => harness.list(resources.controllerRevisions as Resource<KubeObject>, name),
    found => found.length > 0 && found.length < 4,
  )
  await harness.deletePod((await harness.pods(name))[0]!.metadata.name)
  await harness.until(
    'three pods again',
    () => harness.pods(name),
    pods => pods.length === 3,
  )
  await untilGone(harness, name)
}

const autoscaling = 'autoScalingConfig: {minReplicas: 2, maxReplicas: 6}'

async function autoscaled(harness: Harness): Promise<void> {
  await harness.apply(named(solo, 'auto').replace('replicas: 2', `replicas: 2\n          ${autoscaling}`))
  const scalers = () => harness.list(resources.autoscalers, 'auto')
  await harness.until('an autoscaler', scalers, found => found.length === 1)
  await harness.edit('auto', set => {
    set.spec.template.cliques[0]!.spec.autoScalingConfig!.maxReplicas = 7
  })
  await harness.until('it to follow', scalers, ([one]) => one?.spec?.maxReplicas === 7)
  await harness.edit('auto', set => {
    delete set.spec.template.cliques[0]!.spec.autoScalingConfig
  })
  await harness.until('no autoscaler', scalers, found => found.length === 0)
  await untilGone(harness, 'auto')
}

/** Requests devices that do not exist: the pods are created and stay pending. */
async function sharing(harness: Harness): Promise<void> {
  const spec = { devices: { requests: [{ name: 'd', exactly: { deviceClassName: 'none' } }] } }
  const templates = `resourceClaimTemplates: [{name: own, templateSpec: {spec: ${JSON.stringify(spec)}}}]
    resourceSharing: [{name: own, scope: PerReplica}, {name: outer, scope: AllReplicas}]`
  await harness.apply(
    named(solo, 'share')
      .replace('template:', `template:\n    ${templates}`)
      .replace('replicas: 1', 'replicas: 2'),
  )
  await harness.client.create(resources.resourceClaimTemplates, {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { name: 'outer', namespace: harness.namespace },
    spec: { spec },
  } as never)
  const claims = () => harness.list(resources.resourceClaims, 'share')
  const all = await harness.until('three claims', claims, found => found.length === 3)
  await harness.client.patch(
    resources.resourceClaims,
    { name: all[0]!.metadata.name, namespace: harness.namespace },
    { merge: { metadata: { labels: { 'app.kubernetes.io/component': null } } } },
  )
  await harness.edit('share', set => {
    set.spec.replicas = 1
  })
  await harness.until('two claims', claims, found => found.length === 2)
  await untilGone(harness, 'share')
}

async function fabric(harness: Harness): Promise<void> {
  const gpus = 'registry.example/web:1, resources: {limits: {nvidia.com/gpu: 1}}'
  await harness.apply(
    solo
      .replace('{name: solo}', '{name: fabric, annotations: {grove.io/mnnvl-group: engine}}')
      .replace('registry.example/web:1', gpus),
  )
  const domains = () => harness.list(resources.computeDomains, 'fabric')
  const [domain] = await harness.until('a domain', domains, found => found.length === 1)
  await harness.client.patch(
    resources.computeDomains,
    { name: domain!.metadata.name, namespace: harness.namespace },
    { merge: { metadata: { labels: { 'app.kubernetes.io/component': null } } } },
  )
  await untilGone(harness, 'fabric')
}

/** Uses a scheduler that is not installed: its objects are created, repaired and deleted. */
function scheduledBy(schedulerName: string, podGroups: Resource<KubeObject>, metadata: string) {
  return async (harness: Harness): Promise<void> => {
    const name = schedulerName.slice(0, 3)
    await harness.apply(
      solo
        .replace('{name: solo}', `{name: ${name}, ${metadata}}`)
        .replace('podSpec: {', `podSpec: {schedulerName: ${schedulerName}, `),
    )
    const groups = () => harness.list(podGroups, name)
    await harness.until('a PodGroup', groups, found => found.length === 1)
    const ref = { name: `${name}-0`, namespace: harness.namespace }
    await harness.client.patch(podGroups, ref, { merge: { spec: { minMember: 1 } } })
    await harness.until(
      'the PodGroup to be repaired',
      groups,
      ([group]) => (group as { spec?: { minMember?: number } })?.spec?.minMember === 2,
    )
    await untilGone(harness, name)
  }
}

/** The KAI topology follows the levels of a binding. The operator recreates it, because its levels are immutable. */
async function topology(harness: Harness): Promise<void> {
  const ref = { name: 'fabric' }
  const level = (domain: string) => ({ domain, key: `example.com/${domain}` })
  const untilLevels = (count: number) =>
    harness.until(
      `a topology of ${count} levels`,
      () => harness.client.find(resources.kaiTopologies, ref),
      found => found?.spec?.levels?.length === count,
    )
  await harness.client.create(resources.clusterTopologyBindings, {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'ClusterTopologyBinding',
    metadata: ref,
    spec: { levels: [level('zone')] },
  } as never)
  await untilLevels(1)
  const levels = [level('zone'), level('rack')]
  await harness.client.patch(resources.clusterTopologyBindings, ref, { merge: { spec: { levels } } })
  await untilLevels(2)
  await harness.client.delete(resources.clusterTopologyBindings, ref)
}

export const audited = {
  install,
  runs: [
    everyday,
    meddled,
    autoscaled,
    sharing,
    fabric,
    scheduledBy(scheduler.kai, resources.kaiPodGroups, 'labels: {kai.scheduler/queue: gpu-a}'),
    scheduledBy(scheduler.volcano, resources.volcanoPodGroups, 'labels: {team: a}'),
    topology,
  ],
}
