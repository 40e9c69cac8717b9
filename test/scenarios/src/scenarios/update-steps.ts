// SPDX-License-Identifier: Apache-2.0

// Template changes step by step: recreated objects, unchanged pods and status counts after each step.
import { annotation, type CliqueTemplate } from '@grove/api'
import { defineResource, isAlreadyExists, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { SetTree } from '../set-tree.ts'

const priorityClasses = defineResource<KubeObject & { value: number }>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
})

async function providePriorities(harness: Harness): Promise<void> {
  for (const [name, value] of Object.entries({ day: 10, night: 5 }))
    try {
      await harness.client.create(priorityClasses, {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name },
        value,
      })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
}

/** A standalone clique of two pods, and a group of two replicas with a leader and two workers. */
const shop = (replicas: number, more = '') => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: shop}
spec:
  replicas: ${replicas}${more}
  template:
    cliques:
      - name: till
        spec:
          roleName: till
          replicas: 2
          minAvailable: 1
          podSpec:
            containers: [{name: main, image: 'registry.example/till:1'}, {name: side, image: 'registry.example/side:1'}]
      - name: lead
        spec: {roleName: lead, replicas: 1, podSpec: {containers: [{name: main, image: 'registry.example/lead:1'}]}}
      - name: work
        spec: {roleName: work, replicas: 2, minAvailable: 1, podSpec: {containers: [{name: main, image: 'registry.example/work:1'}]}}
    podCliqueScalingGroups:
      - {name: team, cliqueNames: [lead, work], replicas: 2, minAvailable: 1}
`

/** The lines of one ready replica of the shop: outdated pods, and updated counts. */
interface ShopReplica {
  readonly tills?: string
  readonly workers?: readonly [string, string]
  readonly teamsUpdated?: number
}

function shopReplica(
  replica: number,
  { tills = '0 1', workers = ['0 1', '0 1'], teamsUpdated = 2 }: ShopReplica,
) {
  const base = `shop-${replica}`
  const count = (pods: string) => {
    const all = pods.split(' ')
    return `${all.length} of ${all.length} ready, ${all.filter(pod => !pod.endsWith('*')).length} updated`
  }
  return [
    `group ${base}-team: 2 wanted, 2 available, ${teamsUpdated} updated`,
    `clique ${base}-till: ${count(tills)}, gang ${base}`,
    `clique ${base}-team-0-lead: ${count('0')}, gang ${base}`,
    `clique ${base}-team-0-work: ${count(workers[0])}, gang ${base}`,
    `clique ${base}-team-1-lead: ${count('0')}, gang ${base}-team-0`,
    `clique ${base}-team-1-work: ${count(workers[1])}, gang ${base}-team-0`,
    `gang ${base}: ${base}-till 1 of ${tills}, ${base}-team-0-lead 1 of 0, ${base}-team-0-work 1 of ${workers[0]}`,
    `gang ${base}-team-0: ${base}-team-1-lead 1 of 0, ${base}-team-1-work 1 of ${workers[1]}`,
    `service ${base}`,
  ]
}

const shopLines = (replicas: number, updated = replicas, one: ShopReplica = {}) => [
  `set shop: ${replicas} wanted, ${replicas} available, ${updated} updated`,
  ...Array.from({ length: replicas }, (_, replica) => shopReplica(replica, one)).flat(),
]

const tillsOf = (replica: number) => [0, 1].map(index => `Pod shop-${replica}-till-${index}`)
/** The cliques of a group replica are recreated together with their pods. */
const teamsOf = (replica: number) =>
  [0, 1].flatMap(team => [
    `PodClique shop-${replica}-team-${team}-lead`,
    `PodClique shop-${replica}-team-${team}-work`,
    `Pod shop-${replica}-team-${team}-lead-0`,
    `Pod shop-${replica}-team-${team}-work-0`,
    `Pod shop-${replica}-team-${team}-work-1`,
  ])

function changing(
  harness: Harness,
  clique: string,
  change: (template: CliqueTemplate) => void,
): Promise<void> {
  return harness.edit('shop', set => {
    change(set.spec.template.cliques.find(({ name }) => name === clique)!)
  })
}

const withImage = (harness: Harness, clique: string) =>
  changing(harness, clique, ({ spec }) => {
    spec.podSpec.containers[0]!.image = `registry.example/${clique}:2`
  })

/** Gives the operator time for an unwanted update. */
async function untilSeen(harness: Harness): Promise<void> {
  await harness.until(
    'the edit to be observed',
    () => harness.set('shop'),
    set => set?.status?.observedGeneration === set?.metadata.generation,
  )
  await harness.untilQuiet()
}

async function deletePods(harness: Harness, ...hostnames: string[]): Promise<void> {
  for (const { metadata, spec } of await harness.pods('shop'))
    if (hostnames.includes(spec?.hostname ?? '')) await harness.deletePod(metadata.name)
}

export const updateStepScenarios: Scenario[] = [
  {
    name: 'changes of image, variable, priorities and label in sequence each recreate only the affected pods',
    async run(harness) {
      await providePriorities(harness)
      await harness.apply(shop(2))
      const tree = new SetTree(harness, 'shop')
      await tree.until('two replicas', shopLines(2))
      const tills = [0, 1].flatMap(tillsOf)
      const teams = [0, 1].flatMap(teamsOf)

      await withImage(harness, 'till')
      await untilUpdated(harness)
      await tree.until('new tills', shopLines(2), tills)
      await changing(harness, 'lead', ({ spec }) => {
        spec.podSpec.containers[0]!.env = [{ name: 'REVISION', value: '2' }]
      })
      await untilUpdated(harness)
      await tree.until('new teams, because the template of their leader changed', shopLines(2), teams)
      await harness.edit('shop', set => {
        set.spec.template.priorityClassName = 'day'
      })
      await untilUpdated(harness)
      await tree.until('everything new', shopLines(2), [...tills, ...teams])
      await changing(harness, 'till', template => {
        template.labels = { shelf: 'four' }
      })
      await untilUpdated(harness)
      await tree.until('new tills with a label', shopLines(2), tills)
      await changing(harness, 'till', ({ spec }) => {
        spec.podSpec.priorityClassName = 'night'
      })
      await untilUpdated(harness)
      await tree.until('new tills with their own priority', shopLines(2), tills)
    },
  },
  {
    name: 'changes of annotations, order and counts recreate nothing',
    async run(harness) {
      await harness.apply(shop(1))
      const tree = new SetTree(harness, 'shop')
      await tree.until('one replica', shopLines(1))
      await harness.patchSet('shop', {
        metadata: { labels: { owner: 'street' }, annotations: { [annotation.reconcileTrigger]: 'two' } },
      })
      await untilSeen(harness)
      await tree.until('unchanged, after new annotations', shopLines(1))
      await harness.edit('shop', ({ spec: { template } }) => {
        template.cliques.unshift(template.cliques.pop()!)
        template.cliques.find(({ name }) => name === 'till')!.spec.podSpec.containers.reverse()
      })
      await untilSeen(harness)
      await tree.until('unchanged, in another order', shopLines(1))
      await harness.edit('shop', ({ spec: { template } }) => {
        for (const { spec } of template.cliques) spec.replicas += 2
      })
      await untilSeen(harness)
      await tree.until('unchanged, with other counts in the template', shopLines(1))
    },
  },
  {
    name: 'with OnDelete, a new template reaches each pod when it is deleted, at every level',
    async run(harness) {
      await harness.apply(shop(1, '\n  updateStrategy: {type: OnDelete}'))
      const tree = new SetTree(harness, 'shop')
      await tree.until('one replica', shopLines(1))
      await withImage(harness, 'till')
      await withImage(harness, 'work')
      const workers = ['0* 1*', '0* 1*'] as const
      await tree.until(
        'everything outdated, nothing renewed',
        shopLines(1, 0, { tills: '0* 1*', workers, teamsUpdated: 0 }),
      )
      await deletePods(harness, 'shop-0-till-1')
      await tree.until('one till renewed', shopLines(1, 0, { tills: '0* 1', workers, teamsUpdated: 0 }), [
        'Pod shop-0-till-1',
      ])
      const scaled = (replicas: number) => harness.scale(resources.podCliques, 'shop-0-till', replicas)
      await scaled(3)
      await tree.until('a third till', shopLines(1, 0, { tills: '0* 1 2', workers, teamsUpdated: 0 }))
      await scaled(2)
      await tree.until(
        'the outdated till deleted',
        shopLines(1, 0, { tills: '1 2', workers, teamsUpdated: 0 }),
      )
      await deletePods(harness, 'shop-0-team-1-work-0', 'shop-0-team-1-work-1')
      await tree.until(
        'one team renewed',
        shopLines(1, 0, { tills: '1 2', workers: ['0* 1*', '0 1'], teamsUpdated: 1 }),
        ['Pod shop-0-team-1-work-0', 'Pod shop-0-team-1-work-1'],
      )
      await deletePods(harness, 'shop-0-team-0-work-0', 'shop-0-team-0-work-1')
      await tree.until('everything renewed', shopLines(1, 1, { tills: '1 2' }), [
        'Pod shop-0-team-0-work-0',
        'Pod shop-0-team-0-work-1',
      ])
      await harness.edit('shop', set => {
        set.spec.updateStrategy = { type: 'RollingRecreate' }
      })
      await untilSeen(harness)
      await tree.until('no work for RollingRecreate', shopLines(1, 1, { tills: '1 2' }))
    },
  },
]

async function untilUpdated(harness: Harness): Promise<void> {
  await harness.until(
    'the update to end',
    () => harness.set('shop'),
    set =>
      set?.status?.observedGeneration === set?.metadata.generation &&
      set?.status?.updateProgress?.updateEndedAt !== undefined &&
      set.status.updatedReplicas === set.spec.replicas,
  )
}
