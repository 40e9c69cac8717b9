// SPDX-License-Identifier: Apache-2.0

// Compares plans of pods with resource claims with a complete search. The search knows devices only by the attributes that
// the generator gave them: it shares neither selectors nor resources with the planner.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { DeviceRequest, Pod, ResourceClaim } from '@grove/api'
import fc from 'fast-check'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import {
  allocated,
  attribute,
  deviceClass,
  deviceRequest,
  resourceClaim,
  resourceSlice,
  sliceDevice,
  withClaims,
} from '../testing/device-objects.ts'
import { propertyOptions } from '../testing/instances.ts'
import { memberPod, node, pod, podGang, topologyBinding } from '../testing/objects.ts'
import type { PodBinding, SnapshotObjects } from '../types.ts'

const rackKey = 'example.com/rack'

const deviceArbitrary = fc.record({
  model: fc.constantFrom('a', 'b'),
  size: fc.integer({ min: 1, max: 3 }),
  /** A claim that exists already holds the device. */
  held: fc.constantFrom('no', 'no', 'no', 'pod', 'claim'),
})
const requestArbitrary = fc.record({
  model: fc.constantFrom(undefined, 'a', 'b'),
  size: fc.constantFrom(undefined, 1, 2),
  count: fc.constantFrom(1, 1, 2),
})
const groupArbitrary = fc.record({
  min: fc.integer({ min: 1, max: 3 }),
  cpu: fc.integer({ min: 0, max: 2 }),
  requests: fc.array(requestArbitrary, { maxLength: 2 }),
  /** All pods of the group use one claim, or all pods of the gang do. */
  sharing: fc.constantFrom('none', 'none', 'none', 'group', 'gang'),
  required: fc.constantFrom(undefined, undefined, rackKey),
})
const clusterArbitrary = fc.record({
  nodes: fc.array(
    fc.record({
      rack: fc.constantFrom('r1', 'r2'),
      cpu: fc.integer({ min: 1, max: 4 }),
      devices: fc.array(deviceArbitrary, { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  gangs: fc.array(fc.array(groupArbitrary, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }),
  pinned: fc.constantFrom(undefined, undefined, undefined, 0, 1),
})

interface Wanted {
  readonly model: string | undefined
  readonly size: number | undefined
}
interface Unit extends Wanted {
  readonly claim: string
}
interface Member {
  readonly name: string
  readonly cpu: number
  readonly claims: readonly string[]
  readonly pinned: string | undefined
  readonly rackGroup: string | undefined
}
interface PlainDevice {
  readonly name: string
  readonly model: string
  readonly size: number
}
interface Instance {
  readonly objects: SnapshotObjects
  readonly nodes: readonly { name: string; rack: string; cpu: number; devices: readonly PlainDevice[] }[]
  readonly gangs: readonly (readonly Member[])[]
  readonly units: ReadonlyMap<string, readonly Unit[]>
}

type Cluster = typeof clusterArbitrary extends fc.Arbitrary<infer Value> ? Value : never
const instances = clusterArbitrary.map(build)
const mostPods = 4

/** The selector of the size belongs to the request, the selector of the model to the class. */
function requestsOf(group: Cluster['gangs'][number][number]): DeviceRequest[] {
  return group.requests.map(({ model, size, count }, i) =>
    deviceRequest(model ?? 'any', count, size ? [`${attribute('size')} >= ${size}`] : [], `r${i}`),
  )
}

function unitsOf(claim: string, { requests }: Cluster['gangs'][number][number]): Unit[] {
  return requests.flatMap(({ model, size, count }) =>
    Array.from({ length: count }, () => ({ claim, model, size })),
  )
}

function build({ nodes, gangs, pinned }: Cluster): Instance {
  const pods: Pod[] = []
  const resourceClaims: ResourceClaim[] = []
  const units = new Map<string, readonly Unit[]>()
  const plainNodes = nodes.map(({ rack, cpu, devices }, at) => {
    const name = `n${at}`
    const free: PlainDevice[] = []
    devices.forEach(({ model, size, held }, i) => {
      const device = `d${i}`
      if (held === 'no') free.push({ name: device, model, size })
      else {
        const holder = `holder-${at}-${i}`
        resourceClaims.push(
          resourceClaim(holder, [], allocated(name, [device], held === 'pod' ? [holder] : [])),
        )
        if (held === 'pod') pods.push(withClaims(pod(holder, {}, { node: name }), holder))
      }
    })
    return { name, rack, cpu, devices: free }
  })
  const podGangs = gangs.map((groups, at) =>
    podGang(
      `g${at}`,
      groups.map(({ min, required }, i) => ({
        name: `g${at}-c${i}`,
        min: Math.min(min, i === 0 ? mostPods : 1),
        ...(required && { required }),
      })),
      { topology: 'fabric' },
    ),
  )
  const members = gangs.map((groups, at) =>
    groups.flatMap((group, i) => {
      const clique = `g${at}-c${i}`
      return Array.from({ length: Math.min(group.min, i === 0 ? mostPods : 1) }, (_, index): Member => {
        const name = `${clique}-${index}`
        const claim = group.sharing === 'none' ? name : group.sharing === 'group' ? clique : `g${at}-shared`
        const claims = group.requests.length > 0 ? [claim] : []
        let pin: string | undefined
        if (claims.length > 0 && !units.has(claim)) {
          units.set(claim, unitsOf(claim, group))
          const isPinned = pinned === at && group.sharing === 'none' && index === 0
          resourceClaims.push(resourceClaim(claim, requestsOf(group), isPinned ? allocated('n0', []) : {}))
          if (isPinned) {
            units.set(claim, [])
            pin = 'n0'
          }
        }
        pods.push(withClaims(memberPod(`g${at}`, clique, index, { cpu: String(group.cpu) }), ...claims))
        return { name, cpu: group.cpu, claims, pinned: pin, rackGroup: group.required && clique }
      })
    }),
  )
  return {
    nodes: plainNodes,
    gangs: members,
    units,
    objects: {
      nodes: nodes.map(({ rack, cpu }, at) =>
        node(`n${at}`, { cpu: String(cpu) }, { labels: { [rackKey]: rack } }),
      ),
      pods,
      podGangs,
      resourceClaims,
      topologyBindings: [topologyBinding('fabric', { rack: rackKey })],
      deviceClasses: [
        deviceClass('any'),
        ...['a', 'b'].map(model => deviceClass(model, `${attribute('model')} == "${model}"`)),
      ],
      resourceSlices: nodes.map(({ devices }, at) =>
        resourceSlice(
          `n${at}`,
          devices.map(({ model, size }, i) => sliceDevice(`d${i}`, { model, size })),
        ),
      ),
    },
  }
}

function selects({ model, size }: Wanted, device: PlainDevice): boolean {
  return (model === undefined || device.model === model) && (size === undefined || device.size >= size)
}

/** Tries all devices for all units. */
function canAllocate(units: readonly Unit[], devices: readonly PlainDevice[]): boolean {
  const [first, ...rest] = units
  if (!first) return true
  return devices.some(
    device =>
      selects(first, device) &&
      canAllocate(
        rest,
        devices.filter(other => other !== device),
      ),
  )
}

/** Reports whether pods on nodes break no rule. */
function isValid({ nodes, units }: Instance, placed: readonly (readonly [Member, string])[]): boolean {
  const nodeOfClaim = new Map<string, string>()
  for (const [{ claims, pinned }, at] of placed) {
    if (pinned !== undefined && pinned !== at) return false
    for (const claim of claims) {
      if (units.get(claim)!.length > 0 && (nodeOfClaim.get(claim) ?? at) !== at) return false
      nodeOfClaim.set(claim, at)
    }
  }
  const rackOf = new Map<string, string>()
  for (const [{ rackGroup }, at] of placed) {
    const { rack } = nodes.find(({ name }) => name === at)!
    if (rackGroup === undefined) continue
    if ((rackOf.get(rackGroup) ?? rack) !== rack) return false
    rackOf.set(rackGroup, rack)
  }
  return nodes.every(({ name, cpu, devices }) => {
    const own = placed.filter(([, at]) => at === name).map(([member]) => member)
    if (own.reduce((sum, member) => sum + member.cpu, 0) > cpu) return false
    const claims = new Set(own.flatMap(member => member.claims))
    return canAllocate(
      [...claims].flatMap(claim => units.get(claim)!),
      devices,
    )
  })
}

function fits(instance: Instance, members: readonly Member[]): boolean {
  const search = (placed: readonly (readonly [Member, string])[]): boolean => {
    if (!isValid(instance, placed)) return false
    const next = members[placed.length]
    return !next || instance.nodes.some(({ name }) => search([...placed, [next, name]]))
  }
  return search([])
}

/** Every claim has its own devices of its node, and they satisfy its requests. */
function checkAllocations({ nodes, units }: Instance, bindings: readonly PodBinding[]): void {
  const used = new Map<string, string>()
  for (const { node: name, claims = [] } of bindings)
    for (const { name: claim, devices } of claims) {
      const wanted = units.get(claim)!
      equal(devices?.length ?? 0, wanted.length, `devices of ${claim}`)
      const plain = (devices ?? []).map(({ pool, device }) => {
        equal(pool, name)
        const id = `${pool}/${device}`
        equal(used.get(id) ?? claim, claim, `device ${id} is allocated twice`)
        used.set(id, claim)
        return nodes.find(one => one.name === name)!.devices.find(one => one.name === device)!
      })
      ok(plain.every(Boolean), `${claim} got a device that is in use`)
      ok(canAllocate(wanted, plain), `${claim} got devices that it did not ask for`)
    }
}

test('verdicts and devices agree with a complete search', () => {
  const tally = { scheduled: 0, unschedulable: 0, shared: 0, explained: 0 }
  fc.assert(
    fc.property(instances, instance => {
      const decision = plan(snapshotFrom(instance.objects), { ...defaultPolicy, fixes: false }, 0)
      const accepted: Member[] = []
      for (const [index, members] of instance.gangs.entries()) {
        const { verdict, provenance, explanation } = decision.gangs[index]!
        equal(provenance, 'proved')
        const expected = fits(instance, [...accepted, ...members])
        equal(verdict, expected ? 'Scheduled' : 'Unschedulable', `verdict of g${index}`)
        if (explanation?.code === 'DevicesUnavailable') tally.explained++
        if (expected) {
          accepted.push(...members)
          tally.scheduled++
          if (new Set(members.flatMap(({ claims }) => claims)).size < members.length) tally.shared++
        } else tally.unschedulable++
      }
      const byName = new Map(accepted.map(member => [member.name, member]))
      equal(decision.bindings.length, accepted.length)
      ok(
        isValid(
          instance,
          decision.bindings.map(binding => [byName.get(binding.pod)!, binding.node] as const),
        ),
      )
      checkAllocations(instance, decision.bindings)
    }),
    propertyOptions(1500),
  )
  ok(
    tally.scheduled > 200 && tally.unschedulable > 200 && tally.shared > 50 && tally.explained > 50,
    JSON.stringify(tally),
  )
})

test('the order of objects does not change the decision', () => {
  fc.assert(
    fc.property(instances, ({ objects }) => {
      const reversed = Object.fromEntries(
        Object.entries(objects).map(([name, list]) => [name, list.toReversed()]),
      ) as unknown as SnapshotObjects
      const decide = (given: SnapshotObjects) => plan(snapshotFrom(given), defaultPolicy, 0)
      deepEqual(decide(reversed), decide(objects))
    }),
    propertyOptions(200),
  )
})

test('a snapshot that is derived from the last one is equal to a new one', () => {
  fc.assert(
    fc.property(instances, instances, ({ objects: before }, { objects: after }) => {
      const previous = snapshotFrom(before)
      const mixed = {
        ...before,
        resourceClaims: after.resourceClaims!,
        resourceSlices: after.resourceSlices!,
      }
      for (const objects of [before, mixed, after])
        deepEqual(snapshotFrom(objects, { previous }), snapshotFrom(objects))
    }),
    propertyOptions(200),
  )
})
