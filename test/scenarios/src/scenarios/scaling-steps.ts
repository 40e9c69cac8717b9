// SPDX-License-Identifier: Apache-2.0

// Scaling step by step, with the complete list of objects after each step.
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { SetTree } from '../set-tree.ts'

const clique = (name: string, replicas: number, minAvailable: number) => `
      - name: ${name}
        spec:
          roleName: ${name}
          replicas: ${replicas}
          minAvailable: ${minAvailable}
          podSpec: {containers: [{name: main, image: 'registry.example/${name}:1'}]}`

const setOf = (name: string, replicas: number, template: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  template:${template}`

/** The last of the three group replicas is above the minimum. */
const tide = (startup: string) =>
  setOf(
    'tide',
    1,
    `
    cliqueStartupType: CliqueStartupType${startup}
    cliques:${clique('router', 2, 1)}${clique('lead', 1, 1)}${clique('work', 3, 2)}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [lead, work], replicas: 3, minAvailable: 2}`,
  )

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const ready = (count: number) => `${count} of ${count} ready, ${count} updated`

/**
 * The lines of one ready set replica with this number of routers and engines, and optionally the startup dependencies.
 */
function tideReplica(replica: number, routers: number, engines: number, inOrder = false): string[] {
  const base = `tide-${replica}`
  const gangOf = (engine: number) => (engine < 2 ? base : `${base}-eng-${engine - 2}`)
  const after = (parents: string[]) => (inOrder && parents.length ? `, after ${parents.join(' ')}` : '')
  const leads = (engine: number) => (engine < 2 ? [0, 1] : [engine]).map(one => `${base}-eng-${one}-lead`)
  const lead = (engine: number) => `${base}-eng-${engine}-lead 1 of ${engine < engines ? '0' : ''}`
  const work = (engine: number) => `${base}-eng-${engine}-work 2 of ${engine < engines ? '0 1 2' : ''}`
  return [
    `group ${base}-eng: ${engines} wanted, ${engines} available, ${engines} updated`,
    `clique ${base}-router: ${ready(routers)}, gang ${base}`,
    ...upTo(engines).flatMap(engine => [
      `clique ${base}-eng-${engine}-lead: ${ready(1)}, gang ${gangOf(engine)}${after(engine < 2 ? [`${base}-router`] : [])}`,
      `clique ${base}-eng-${engine}-work: ${ready(3)}, gang ${gangOf(engine)}${after(leads(engine))}`,
    ]),
    // The base gang keeps its minimum, also if fewer pods are wanted.
    `gang ${base}: ${[`${base}-router 1 of ${upTo(routers).join(' ')}`, lead(0), work(0), lead(1), work(1)].join(', ')}`,
    ...upTo(engines)
      .slice(2)
      .map(engine => `gang ${gangOf(engine)}: ${lead(engine)}, ${work(engine)}`),
    `service ${base}`,
  ]
}

const tideSet = (replicas: number, available = replicas) =>
  `set tide: ${replicas} wanted, ${available} available, ${available} updated`

const engines = (harness: Harness, replicas: number) =>
  harness.scale(resources.podCliqueScalingGroups, 'tide-0-eng', replicas)
const routers = (harness: Harness, replicas: number) =>
  harness.scale(resources.podCliques, 'tide-0-router', replicas)

const napReplica = (replica: number) => [
  `clique nap-${replica}-web: ${ready(2)}, gang nap-${replica}`,
  `gang nap-${replica}: nap-${replica}-web 2 of 0 1`,
  `service nap-${replica}`,
]

export const scalingStepScenarios: Scenario[] = [
  {
    name: 'scales a group, a clique and a set out, in, below the minimum and back, and recreates no object',
    async run(harness) {
      await harness.apply(tide('AnyOrder'))
      const tree = new SetTree(harness, 'tide')
      await tree.until('three engines', [tideSet(1), ...tideReplica(0, 2, 3)])
      await engines(harness, 5)
      await tree.until('five engines, two more gangs', [tideSet(1), ...tideReplica(0, 2, 5)])
      await engines(harness, 2)
      await tree.until('minAvailable replicas, and only the base gang', [tideSet(1), ...tideReplica(0, 2, 2)])
      await engines(harness, 1)
      await tree.until('fewer than minAvailable', [tideSet(1, 0), ...tideReplica(0, 2, 1)])
      await engines(harness, 3)
      await tree.until('three engines again', [tideSet(1), ...tideReplica(0, 2, 3)])
      await routers(harness, 4)
      await tree.until('four routers in the base gang', [tideSet(1), ...tideReplica(0, 4, 3)])
      await routers(harness, 3)
      await tree.until('the last router removed', [tideSet(1), ...tideReplica(0, 3, 3)])
      await harness.scale(resources.podCliqueSets, 'tide', 2)
      await tree.until('a second replica with the counts of the template', [
        tideSet(2),
        ...tideReplica(0, 3, 3),
        ...tideReplica(1, 2, 3),
      ])
      await harness.scale(resources.podCliqueSets, 'tide', 1)
      await tree.until('only the first replica', [tideSet(1), ...tideReplica(0, 3, 3)])
    },
  },
  {
    name: 'with startup order InOrder, members of the base gang wait for all group replicas of the base gang, others for their siblings',
    async run(harness) {
      await harness.apply(tide('InOrder'))
      const tree = new SetTree(harness, 'tide')
      await tree.until('three engines', [tideSet(1), ...tideReplica(0, 2, 3, true)])
      await engines(harness, 4)
      await tree.until('four engines', [tideSet(1), ...tideReplica(0, 2, 4, true)])
    },
  },
  {
    name: 'a set is created with zero replicas, scaled out, loses a pod, is scaled in, to zero and out again',
    async run(harness) {
      const nap = (replicas: number) => [
        `set nap: ${replicas} wanted, ${replicas} available, ${replicas} updated`,
        ...upTo(replicas).flatMap(napReplica),
      ]
      await harness.apply(setOf('nap', 0, `\n    cliques:${clique('web', 2, 2)}`))
      const tree = new SetTree(harness, 'nap')
      await tree.until('only the set itself', nap(0))
      await harness.scale(resources.podCliqueSets, 'nap', 3)
      await tree.until('three replicas', nap(3))
      const pods = await harness.pods('nap')
      await harness.deletePod(pods.find(pod => pod.spec?.hostname === 'nap-1-web-0')!.metadata.name)
      await tree.until('a replacement of the pod', nap(3), ['Pod nap-1-web-0'])
      await harness.scale(resources.podCliqueSets, 'nap', 1)
      await tree.until('one replica', nap(1))
      await harness.scale(resources.podCliqueSets, 'nap', 0)
      await tree.until('nothing again', nap(0))
      await harness.scale(resources.podCliqueSets, 'nap', 2)
      await tree.until('two replicas', nap(2))
    },
  },
]
