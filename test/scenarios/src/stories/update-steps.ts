// SPDX-License-Identifier: Apache-2.0

// Changes of templates step by step: which objects are made anew, which pods stay as they were, and what the
// statuses count, after each of them.
import { annotation, type CliqueTemplate } from '@grove/api'
import { defineResource, isAlreadyExists, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import { SetTree } from '../set-tree.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

const priorityClasses = defineResource<KubeObject & { value: number }>({
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
})

async function providePriorities(stage: Stage): Promise<void> {
  for (const [name, value] of Object.entries({ day: 10, night: 5 }))
    try {
      await stage.client.create(priorityClasses, {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name },
        value,
      })
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
}

/** A clique of two of its own, and a group of two replicas of a leader and two workers. */
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

/** What is outdated in a replica of the shop, and what is counted as updated; everything is ready. */
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
/** The cliques of a group replica are made anew together with their pods. */
const teamsOf = (replica: number) =>
  [0, 1].flatMap(team => [
    `PodClique shop-${replica}-team-${team}-lead`,
    `PodClique shop-${replica}-team-${team}-work`,
    `Pod shop-${replica}-team-${team}-lead-0`,
    `Pod shop-${replica}-team-${team}-work-0`,
    `Pod shop-${replica}-team-${team}-work-1`,
  ])

function changing(stage: Stage, clique: string, change: (template: CliqueTemplate) => void): Promise<void> {
  return stage.edit('shop', set => {
    change(set.spec.template.cliques.find(({ name }) => name === clique)!)
  })
}

const withImage = (stage: Stage, clique: string) =>
  changing(stage, clique, ({ spec }) => {
    spec.podSpec.containers[0]!.image = `registry.example/${clique}:2`
  })

/** Nothing is to happen: what would happen is given the time. */
async function untilSeen(stage: Stage): Promise<void> {
  await stage.until(
    'the edit to be seen',
    () => stage.set('shop'),
    set => set?.status?.observedGeneration === set?.metadata.generation,
  )
  await stage.untilQuiet()
}

async function deletePods(stage: Stage, ...hostnames: string[]): Promise<void> {
  for (const { metadata, spec } of await stage.pods('shop'))
    if (hostnames.includes(spec?.hostname ?? '')) await stage.deletePod(metadata.name)
}

export const updateStepStories: Story[] = [
  {
    name: 'image, variable, priorities and label change one after the other, and each renews what it is about',
    async tell(stage) {
      await providePriorities(stage)
      await stage.apply(shop(2))
      const tree = new SetTree(stage, 'shop')
      await tree.until('two replicas', shopLines(2))
      const tills = [0, 1].flatMap(tillsOf)
      const teams = [0, 1].flatMap(teamsOf)

      await withImage(stage, 'till')
      await untilUpdated(stage)
      await tree.until('new tills', shopLines(2), tills)
      await changing(stage, 'lead', ({ spec }) => {
        spec.podSpec.containers[0]!.env = [{ name: 'REVISION', value: '2' }]
      })
      await untilUpdated(stage)
      await tree.until('new teams, for their leader', shopLines(2), teams)
      await stage.edit('shop', set => {
        set.spec.template.priorityClassName = 'day'
      })
      await untilUpdated(stage)
      await tree.until('everything new', shopLines(2), [...tills, ...teams])
      await changing(stage, 'till', template => {
        template.labels = { shelf: 'four' }
      })
      await untilUpdated(stage)
      await tree.until('new tills with a label', shopLines(2), tills)
      await changing(stage, 'till', ({ spec }) => {
        spec.podSpec.priorityClassName = 'night'
      })
      await untilUpdated(stage)
      await tree.until('new tills with a priority of their own', shopLines(2), tills)
    },
  },
  {
    name: 'notes, order and counts renew nothing',
    async tell(stage) {
      await stage.apply(shop(1))
      const tree = new SetTree(stage, 'shop')
      await tree.until('one replica', shopLines(1))
      await stage.patchSet('shop', {
        metadata: { labels: { owner: 'street' }, annotations: { [annotation.reconcileTrigger]: 'two' } },
      })
      await untilSeen(stage)
      await tree.until('as it was, after notes', shopLines(1))
      await stage.edit('shop', ({ spec: { template } }) => {
        template.cliques.unshift(template.cliques.pop()!)
        template.cliques.find(({ name }) => name === 'till')!.spec.podSpec.containers.reverse()
      })
      await untilSeen(stage)
      await tree.until('as it was, in another order', shopLines(1))
      await stage.edit('shop', ({ spec: { template } }) => {
        for (const { spec } of template.cliques) spec.replicas += 2
      })
      await untilSeen(stage)
      await tree.until('as it was, with other counts in the template', shopLines(1))
    },
  },
  {
    name: 'with OnDelete a new template waits for whoever deletes pods, pod by pod, at every level',
    async tell(stage) {
      await stage.apply(shop(1, '\n  updateStrategy: {type: OnDelete}'))
      const tree = new SetTree(stage, 'shop')
      await tree.until('one replica', shopLines(1))
      await withImage(stage, 'till')
      await withImage(stage, 'work')
      const workers = ['0* 1*', '0* 1*'] as const
      await tree.until(
        'everything outdated, nothing renewed',
        shopLines(1, 0, { tills: '0* 1*', workers, teamsUpdated: 0 }),
      )
      await deletePods(stage, 'shop-0-till-1')
      await tree.until('one till renewed', shopLines(1, 0, { tills: '0* 1', workers, teamsUpdated: 0 }), [
        'Pod shop-0-till-1',
      ])
      const scaled = (replicas: number) => stage.scale(resources.podCliques, 'shop-0-till', replicas)
      await scaled(3)
      await tree.until('a third till', shopLines(1, 0, { tills: '0* 1 2', workers, teamsUpdated: 0 }))
      await scaled(2)
      await tree.until('the outdated till gone', shopLines(1, 0, { tills: '1 2', workers, teamsUpdated: 0 }))
      await deletePods(stage, 'shop-0-team-1-work-0', 'shop-0-team-1-work-1')
      await tree.until(
        'one team renewed',
        shopLines(1, 0, { tills: '1 2', workers: ['0* 1*', '0 1'], teamsUpdated: 1 }),
        ['Pod shop-0-team-1-work-0', 'Pod shop-0-team-1-work-1'],
      )
      await deletePods(stage, 'shop-0-team-0-work-0', 'shop-0-team-0-work-1')
      await tree.until('everything renewed', shopLines(1, 1, { tills: '1 2' }), [
        'Pod shop-0-team-0-work-0',
        'Pod shop-0-team-0-work-1',
      ])
      await stage.edit('shop', set => {
        set.spec.updateStrategy = { type: 'RollingRecreate' }
      })
      await untilSeen(stage)
      await tree.until('nothing to do for RollingRecreate', shopLines(1, 1, { tills: '1 2' }))
    },
  },
]

async function untilUpdated(stage: Stage): Promise<void> {
  await stage.until(
    'the update to end',
    () => stage.set('shop'),
    set =>
      set?.status?.observedGeneration === set?.metadata.generation &&
      set?.status?.updateProgress?.updateEndedAt !== undefined &&
      set.status.updatedReplicas === set.spec.replicas,
  )
}
