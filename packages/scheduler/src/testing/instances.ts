// SPDX-License-Identifier: Apache-2.0
import type { Pod, PodGang, PodSpec } from '@grove/api'
import fc from 'fast-check'
import type { SnapshotObjects } from '../types.ts'
import { gpu, memberPod, node, pod, podGang, topologyBinding } from './objects.ts'

/** Number of runs and seed of property tests: `RUNS=50000 SEED=7 node --test FILE`. */
export const propertyOptions = (runs: number): { numRuns: number; seed: number } => ({
  numRuns: Number(process.env.RUNS ?? runs),
  seed: Number(process.env.SEED ?? 1),
})

const levels = { zone: 'example.com/zone', rack: 'example.com/rack', host: 'kubernetes.io/hostname' } as const
const keys = [...Object.values(levels), 'example.com/pool']

const key = fc.constantFrom(...keys)
const rarely = <Value>(value: fc.Arbitrary<Value>, weight = 5) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight }, { arbitrary: value, weight: 1 })

const nodeArbitrary = fc.record({
  zone: rarely(fc.constantFrom('a', 'b'), 1).map(zone => zone ?? 'a'),
  rack: fc.oneof(
    { arbitrary: fc.constantFrom('r1', 'r2', 'r3'), weight: 9 },
    { arbitrary: fc.constant(undefined), weight: 1 },
  ),
  pool: fc.constantFrom('x', 'y', undefined),
  gpus: fc.integer({ min: 0, max: 8 }),
  cpus: fc.integer({ min: 2, max: 8 }),
  pods: fc.constantFrom(1, 2, 3, 110),
  taint: rarely(fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule')),
  cordon: fc.integer({ min: 0, max: 9 }).map(value => value === 0),
})

const constraintArbitrary = fc.record({ required: rarely(key, 2), preferred: rarely(key, 2) })

const groupArbitrary = fc.record({
  min: fc.integer({ min: 0, max: 3 }),
  surplus: fc.constantFrom(0, 0, 1),
  gpus: fc.integer({ min: 0, max: 4 }),
  cpus: fc.integer({ min: 0, max: 4 }),
  constraint: constraintArbitrary,
  selector: rarely(fc.constantFrom('x', 'y')),
  tolerates: fc.boolean(),
  port: rarely(fc.constantFrom(8080, 9090)),
  apart: rarely(fc.constant(true)),
  running: fc.array(fc.nat({ max: 20 }), { maxLength: 1 }),
})

const gangArbitrary = fc.record({
  groups: fc.array(groupArbitrary, { minLength: 1, maxLength: 4 }),
  constraint: constraintArbitrary,
  config: rarely(fc.record({ constraint: constraintArbitrary, size: fc.integer({ min: 1, max: 3 }) }), 2),
  withBinding: fc.integer({ min: 0, max: 4 }).map(value => value > 0),
  hasRunning: fc.integer({ min: 0, max: 3 }).map(value => value === 0),
})

const clusterArbitrary = fc.record({
  nodes: fc.array(nodeArbitrary, { minLength: 1, maxLength: 7 }),
  others: fc.array(fc.record({ node: fc.nat({ max: 20 }), gpus: fc.integer({ min: 1, max: 3 }) }), {
    maxLength: 3,
  }),
  gangs: fc.array(gangArbitrary, { minLength: 1, maxLength: 2 }),
})

type Cluster = typeof clusterArbitrary extends fc.Arbitrary<infer Value> ? Value : never

/** Small random clusters, about half of which cannot hold their gangs. */
export const instances: fc.Arbitrary<SnapshotObjects> = clusterArbitrary.map(build)

/** As `instances`, with one gang. */
export const singleGangInstances: fc.Arbitrary<SnapshotObjects> = clusterArbitrary.map(cluster =>
  build({ ...cluster, gangs: cluster.gangs.slice(0, 1) }),
)

/** Keeps the search of the oracle small: at most five missing pods for each gang. */
const mostPods = 5

function build({ nodes, others, gangs }: Cluster): SnapshotObjects {
  const podGangs: PodGang[] = []
  const pods: Pod[] = others.map(({ node, gpus }, index) =>
    pod(`other-${index}`, { [gpu]: String(gpus) }, { node: `n${node % nodes.length}` }),
  )
  gangs.forEach((gang, position) => {
    const name = `g${position}`
    let left = mostPods
    const groups = gang.groups.map((group, index) => {
      const clique = `${name}-c${index}`
      const min = Math.min(group.min, left)
      left -= min
      const spec: Partial<PodSpec> = {
        ...(group.selector ? { nodeSelector: { 'example.com/pool': group.selector } } : {}),
        ...(group.tolerates ? { tolerations: [{ key: 'dedicated', operator: 'Exists' }] } : {}),
        ...(group.apart ? { affinity: { podAntiAffinity: apart(clique) } } : {}),
      }
      const running = gang.hasRunning ? group.running : []
      for (let i = 0; i < min + group.surplus; i++) {
        const requests = { [gpu]: String(group.gpus), cpu: String(group.cpus) }
        const at = running[i]
        const member = memberPod(name, clique, i, requests, {
          spec: { ...spec, ...(at === undefined ? {} : { nodeName: `n${at % nodes.length}` }) },
        })
        if (group.port) member.spec.containers[0]!.ports = [{ containerPort: 1, hostPort: group.port }]
        pods.push(member)
      }
      return { name: clique, min, ...defined(group.constraint) }
    })
    const { config } = gang
    podGangs.push(
      podGang(name, groups, {
        ...defined(gang.constraint),
        ...(gang.withBinding ? { topology: 'fabric' } : {}),
        ...(config
          ? {
              configs: [
                {
                  name: `${name}-config`,
                  groups: groups.slice(0, config.size).map(group => group.name),
                  ...defined(config.constraint),
                },
              ],
            }
          : {}),
      }),
    )
  })
  return {
    nodes: nodes.map((value, index) =>
      node(
        `n${index}`,
        { [gpu]: String(value.gpus), cpu: String(value.cpus), pods: String(value.pods) },
        {
          labels: {
            [levels.zone]: value.zone,
            ...(value.rack ? { [levels.rack]: value.rack } : {}),
            ...(value.pool ? { 'example.com/pool': value.pool } : {}),
          },
          ...(value.taint ? { taints: [{ key: 'dedicated', effect: value.taint }] } : {}),
          unschedulable: value.cordon,
        },
      ),
    ),
    pods,
    podGangs,
    topologyBindings: [topologyBinding('fabric', levels)],
  }
}

function apart(clique: string): NonNullable<NonNullable<PodSpec['affinity']>['podAntiAffinity']> {
  return {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: levels.host, labelSelector: { matchLabels: { 'grove.io/podclique': clique } } },
    ],
  }
}

function defined({ required, preferred }: { required?: string | undefined; preferred?: string | undefined }) {
  return { ...(required ? { required } : {}), ...(preferred ? { preferred } : {}) }
}
