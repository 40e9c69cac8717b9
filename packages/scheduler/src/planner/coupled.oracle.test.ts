// SPDX-License-Identifier: Apache-2.0

// Rules between pods that are scheduled together, compared with a complete search over the final state.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodSpec, Taint } from '@grove/api'
import fc from 'fast-check'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { propertyOptions } from '../testing/instances.ts'
import { memberPod, node, pod, podGang } from '../testing/objects.ts'
import type { SnapshotObjects } from '../types.ts'

const zone = 'example.com/zone'
const host = 'kubernetes.io/hostname'
const policy = { ...defaultPolicy, fixes: false }

const ruleArbitrary = fc.record({
  kind: fc.constantFrom('affinity', 'antiAffinity', 'spread'),
  key: fc.constantFrom(zone, zone, host),
  target: fc.constantFrom('a', 'b', 'other'),
  maxSkew: fc.constantFrom(1, 2),
  minDomains: fc.constantFrom(undefined, 2, 3),
})

type Rule = typeof ruleArbitrary extends fc.Arbitrary<infer Value> ? Value : never

const instanceArbitrary = fc.record({
  nodes: fc.array(
    fc.record({ zone: fc.constantFrom('z1', 'z2', 'z3', undefined), cpus: fc.integer({ min: 0, max: 3 }) }),
    {
      minLength: 1,
      maxLength: 5,
    },
  ),
  bound: fc.array(fc.nat({ max: 9 }), { maxLength: 2 }),
  groups: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 2 })),
  rules: fc.tuple(
    fc.array(ruleArbitrary, { minLength: 1, maxLength: 2 }),
    fc.array(ruleArbitrary, { maxLength: 1 }),
  ),
})

function specOf(rules: readonly Rule[]): Partial<PodSpec> {
  const selector = (target: string) => ({ matchLabels: { app: target } })
  const terms = (kind: Rule['kind']) =>
    rules
      .filter(rule => rule.kind === kind)
      .map(({ key, target }) => ({ topologyKey: key, labelSelector: selector(target) }))
  return {
    affinity: {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms('affinity') },
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms('antiAffinity') },
    },
    topologySpreadConstraints: rules
      .filter(({ kind }) => kind === 'spread')
      .map(({ key, target, maxSkew, minDomains }) => ({
        topologyKey: key,
        labelSelector: selector(target),
        whenUnsatisfiable: 'DoNotSchedule',
        maxSkew,
        ...(minDomains ? { minDomains } : {}),
      })),
  }
}

interface Instance {
  readonly objects: SnapshotObjects
  readonly rulesOf: ReadonlyMap<string, readonly Rule[]>
}

const instances = instanceArbitrary.map(({ nodes, bound, groups, rules }): Instance => {
  const pods: Pod[] = bound.map((at, i) =>
    pod(`other-${i}`, { cpu: '1' }, { node: `n${at % nodes.length}`, labels: { app: 'other' } }),
  )
  groups.forEach((count, group) => {
    const name = group === 0 ? 'a' : 'b'
    for (let i = 0; i < count; i++)
      pods.push(memberPod('g', name, i, { cpu: '1' }, { labels: { app: name }, spec: specOf(rules[group]!) }))
  })
  return {
    rulesOf: new Map([
      ['a', rules[0]],
      ['b', rules[1]],
    ]),
    objects: {
      nodes: nodes.map((entry, i) =>
        node(`n${i}`, { cpu: String(entry.cpus) }, { labels: entry.zone ? { [zone]: entry.zone } : {} }),
      ),
      pods,
      podGangs: [
        podGang(
          'g',
          groups.map((min, group) => ({ name: group === 0 ? 'a' : 'b', min })).filter(({ min }) => min > 0),
        ),
      ],
    },
  }
})

interface At {
  readonly app: string
  readonly node: number
}

/** Evaluates the rules as literally as possible. */
function isValid({ objects, rulesOf }: Instance, all: readonly At[]): boolean {
  const domainOf = (key: string, at: number) => objects.nodes[at]!.metadata.labels?.[key]
  const used = objects.nodes.map((_, at) => all.filter(({ node }) => node === at).length)
  const isRoomy = objects.nodes.every(
    ({ status }, at) =>
      used[at]! <= Number(status?.allocatable?.cpu) ||
      all.every(({ app, node }) => node !== at || app === 'other'),
  )
  return (
    isRoomy &&
    all.every((one, index) =>
      (rulesOf.get(one.app) ?? []).every(({ kind, key, target, maxSkew, minDomains }) => {
        const own = domainOf(key, one.node)
        const others = all.filter(({ app }, i) => i !== index && app === target)
        const near = others.filter(({ node }) => own !== undefined && domainOf(key, node) === own)
        if (kind === 'antiAffinity') return near.length === 0
        if (own === undefined) return false
        if (kind === 'affinity') {
          // A pod must match all terms to satisfy one of them.
          const terms = (rulesOf.get(one.app) ?? []).filter(rule => rule.kind === 'affinity')
          const isOne = new Set(terms.map(rule => rule.target)).size === 1
          if (!isOne) return false
          return near.length > 0 || (others.length === 0 && one.app === target)
        }
        const domains = [
          ...new Set(objects.nodes.map((_, at) => domainOf(key, at)).filter(value => value !== undefined)),
        ]
        const counts = domains.map(
          domain => all.filter(({ app, node }) => app === target && domainOf(key, node) === domain).length,
        )
        const least = domains.length < (minDomains ?? 1) ? 0 : Math.min(...counts)
        return counts[domains.indexOf(own)]! - least <= maxSkew
      }),
    )
  )
}

function fits(instance: Instance): boolean {
  const { pods, nodes } = instance.objects
  const fixed = pods
    .filter(({ spec }) => spec.nodeName)
    .map(({ spec }) => ({ app: 'other', node: Number(spec.nodeName!.slice(1)) }))
  const waiting = pods.filter(({ spec }) => !spec.nodeName).map(({ metadata }) => metadata.labels!.app!)
  const search = (at: number, all: readonly At[]): boolean => {
    if (at === waiting.length) return isValid(instance, all)
    return nodes.some((_, index) => search(at + 1, [...all, { app: waiting[at]!, node: index }]))
  }
  return search(0, fixed)
}

test('pod affinity, anti-affinity and spread between pending pods agree with a complete search', () => {
  const tally = { scheduled: 0, unschedulable: 0 }
  fc.assert(
    fc.property(instances, instance => {
      const [gang] = plan(snapshotFrom(instance.objects), policy, 0).gangs
      const expected = fits(instance)
      equal(gang!.verdict, expected ? 'Scheduled' : 'Unschedulable')
      equal(gang!.provenance, 'proved')
      tally[expected ? 'scheduled' : 'unschedulable']++
      if (!expected) return
      const bound = instance.objects.pods
        .filter(({ spec }) => spec.nodeName)
        .map(({ spec }) => ({ app: 'other', node: Number(spec.nodeName!.slice(1)) }))
      const placed = gang!.pods.map(({ podGroup, node }) => ({ app: podGroup, node: Number(node!.slice(1)) }))
      ok(isValid(instance, [...bound, ...placed]), JSON.stringify(gang!.pods))
    }),
    propertyOptions(1500),
  )
  ok(tally.scheduled > 100 && tally.unschedulable > 100, JSON.stringify(tally))
})

test('an earlier gang gets another node if a later gang has affinity to its pods', () => {
  const term = { topologyKey: zone, labelSelector: { matchLabels: { app: 'a' } } }
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } }
  const spec = { schedulerName: 'grove-scheduler', affinity }
  const decision = plan(
    snapshotFrom({
      nodes: [
        node('tight', { cpu: '1' }, { labels: { [zone]: 'z1' } }),
        node('wide', { cpu: '2' }, { labels: { [zone]: 'z2' } }),
      ],
      pods: [
        memberPod('first', 'a', 0, { cpu: '1' }, { labels: { app: 'a' } }),
        memberPod('second', 'b', 0, { cpu: '1' }, { spec }),
      ],
      podGangs: [podGang('first', [{ name: 'a', min: 1 }]), podGang('second', [{ name: 'b', min: 1 }])],
    }),
    policy,
    0,
  )
  deepEqual(
    decision.bindings.map(({ pod, node }) => [pod, node]),
    [
      ['a-0', 'wide'],
      ['b-0', 'wide'],
    ],
  )
})

test('ten pods spread evenly over two zones', () => {
  const nodes = ['z1', 'z2'].flatMap(value =>
    [0, 1].map(i => node(`${value}-${i}`, { cpu: '8' }, { labels: { [zone]: value } })),
  )
  const rules: Rule[] = [{ kind: 'spread', key: zone, target: 'a', maxSkew: 1, minDomains: undefined }]
  const pods = Array.from({ length: 10 }, (_, i) =>
    memberPod('g', 'c', i, { cpu: '1' }, { labels: { app: 'a' }, spec: specOf(rules) }),
  )
  const decision = plan(
    snapshotFrom({ nodes, pods, podGangs: [podGang('g', [{ name: 'c', min: 10 }])] }),
    policy,
    0,
  )
  const zones = decision.bindings.map(binding => binding.node.slice(0, 2))
  deepEqual([zones.filter(one => one === 'z1').length, zones.length], [5, 10])
})

/** The verdict of two pods that a constraint spreads over two zones. Only the node `apart` runs other pods of the app. */
function verdictNextToApart(constraint: object, labels: Record<string, string>, taints: Taint[] = []) {
  const cpu = { cpu: '1' }
  const nodes = [
    node('a', cpu, { labels: { [zone]: 'z1', rack: 'r1', pool: 'x' } }),
    node('b', cpu, { labels: { [zone]: 'z2', rack: 'r2', pool: 'x' } }),
    node('apart', cpu, { labels: { [zone]: 'z1', ...labels }, taints }),
  ]
  const app = { labels: { app: 'a' } }
  const spread = {
    maxSkew: 1,
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: { app: 'a' } },
  }
  const spec: Partial<PodSpec> = {
    nodeSelector: { pool: 'x' },
    topologySpreadConstraints: [
      { ...spread, topologyKey: zone, ...constraint },
      { ...spread, topologyKey: 'rack' },
    ],
  }
  const pods = [
    ...[0, 1, 2].map(i => pod(`bound-${i}`, {}, { node: 'apart', ...app })),
    ...[0, 1].map(i => memberPod('g', 'a', i, cpu, { ...app, spec })),
  ]
  const podGangs = [podGang('g', [{ name: 'a', min: 2 }])]
  return plan(snapshotFrom({ nodes, pods, podGangs }), policy, 0).gangs[0]?.verdict
}

test('spread constraints count no pods on nodes that the selector excludes, unless nodeAffinityPolicy is Ignore', () => {
  const excluded = { rack: 'r3', pool: 'y' }
  equal(verdictNextToApart({}, excluded), 'Scheduled')
  equal(verdictNextToApart({ nodeAffinityPolicy: 'Ignore' }, excluded), 'Unschedulable')
})

test('spread constraints count no pods on tainted nodes if nodeTaintsPolicy is Honor', () => {
  const included = { rack: 'r3', pool: 'x' }
  const taints = [{ key: 'dedicated', effect: 'NoSchedule' }]
  equal(verdictNextToApart({}, included, taints), 'Unschedulable')
  equal(verdictNextToApart({ nodeTaintsPolicy: 'Honor' }, included, taints), 'Scheduled')
})

test('spread constraints count no pods on nodes without the topology keys of all constraints', () => {
  equal(verdictNextToApart({ nodeAffinityPolicy: 'Ignore' }, { pool: 'y' }), 'Scheduled')
})
