// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { label, type Pod, type PodGang } from '@grove/api'
import { captureLog, createRegistry, FakeClock, silentLogger } from '@grove/kube'
import { defaultPolicy } from '../index.ts'
import {
  allocated,
  deviceClass,
  deviceRequest,
  resourceClaim,
  resourceSlice,
  withClaims,
} from '../testing/device-objects.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import type { SnapshotObjects } from '../types.ts'
import { CapacityMetrics } from './capacity-metrics.ts'

const rack = 'example.com/rack'
const topologyBindings = [topologyBinding('fabric', { rack })]
const nodes = ['a-1', 'a-2', 'b-1'].map(name =>
  node(name, { [gpu]: '8', cpu: '16' }, { labels: { [rack]: name.split('-')[0]! } }),
)

/** The base gang of a set with two pods of four GPUs, and its pods on a node. */
function setOn(set: string, host: string | undefined): { gang: PodGang; pods: Pod[] } {
  const name = `${set}-0`
  const made = podGang(name, [{ name: `${name}-c`, min: 2 }], { topology: 'fabric', required: rack })
  const gang = { ...made, metadata: { ...made.metadata, labels: { [label.partOf]: set } } }
  const pods = [0, 1].map(index => {
    const pod = memberPod(name, `${name}-c`, index, { [gpu]: '4', cpu: '1' })
    return host === undefined ? pod : { ...pod, spec: { ...pod.spec, nodeName: host } }
  })
  return { gang, pods }
}

async function gaugesAfter(objects: readonly SnapshotObjects[]): Promise<Record<string, number>> {
  const registry = createRegistry()
  let current = objects[0]!
  const metrics = new CapacityMetrics({
    registry,
    clock: new FakeClock(0),
    log: silentLogger,
    policy: defaultPolicy,
    schedulerName: 'grove-scheduler',
    objects: () => current,
  })
  for (const each of objects) {
    current = each
    metrics.measure()
  }
  const lines = (await registry.metrics()).split('\n').filter(line => /^grove_(alloc|frag)\w+\{/.test(line))
  return Object.fromEntries(
    lines.map(line => {
      const [, labels = '', value] = /\{(.*)\} (\S+)$/.exec(line) ?? []
      return [labels.replaceAll(/\w+="([^"]*)"/g, '$1'), Number(value)]
    }),
  )
}

const objectsOf = (...sets: readonly { gang: PodGang; pods: readonly Pod[] }[]): SnapshotObjects => ({
  nodes,
  topologyBindings,
  podGangs: sets.map(({ gang }) => gang),
  pods: sets.flatMap(({ pods }) => pods),
})

describe('capacity metrics', () => {
  test('count further copies of a running set, in the cluster and by level', async () => {
    assert.deepEqual(await gaugesAfter([objectsOf(setOn('llm', 'a-1'))]), {
      'default/llm,cluster': 2,
      'default/llm,rack': 2,
      [gpu]: 0,
    })
  })

  test('count a pending set as a copy that does not exist yet', async () => {
    const counts = await gaugesAfter([objectsOf(setOn('llm', undefined))])
    assert.equal(counts['default/llm,cluster'], 3)
  })

  test('drop sets that were deleted', async () => {
    const both = objectsOf(setOn('llm', 'a-1'), setOn('other', 'a-2'))
    const counts = await gaugesAfter([both, objectsOf(setOn('other', 'a-2'))])
    assert.deepEqual(Object.keys(counts).sort(), ['default/other,cluster', 'default/other,rack', gpu].sort())
  })

  test('are gone with the last set', async () => {
    assert.deepEqual(await gaugesAfter([objectsOf(setOn('llm', 'a-1')), objectsOf()]), {})
  })

  test('are measured again after a failure, which is logged', async () => {
    const registry = createRegistry()
    const clock = new FakeClock(0)
    const { log, lines } = captureLog()
    let calls = 0
    const metrics = new CapacityMetrics({
      registry,
      clock,
      log,
      policy: defaultPolicy,
      schedulerName: 'grove-scheduler',
      objects: () => {
        if (++calls === 1) throw new Error('unreadable')
        return objectsOf()
      },
    })
    await metrics.start(new AbortController().signal)
    await clock.advance(60_000)
    await metrics.stop()
    assert.equal(calls, 2)
    assert.equal(lines.length, 1)
  })

  test('have a bounded number of sets', async () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      setOn(`set-${String(index).padStart(2, '0')}`, undefined),
    )
    const sets = new Set(
      Object.keys(await gaugesAfter([objectsOf(...many), objectsOf(...many)]))
        .filter(labels => labels.includes(','))
        .map(labels => labels.split(',')[0]),
    )
    assert.equal(sets.size, 20)
  })

  test('a copy of a set that runs has claims of its own', async () => {
    const { gang, pods } = setOn('s', 'a-1')
    const claims = pods.map((pod, index) =>
      resourceClaim(
        `x${index}`,
        [deviceRequest('gpu')],
        allocated('a-1', [`gpu-${index}`], [pod.metadata.name]),
      ),
    )
    const claiming = pods.map((pod, index) => withClaims(pod, `x${index}`))
    const gauges = await gaugesAfter([
      {
        ...objectsOf({ gang, pods: claiming }),
        resourceClaims: claims,
        deviceClasses: [deviceClass('gpu')],
        resourceSlices: [resourceSlice('a-1', 8), resourceSlice('a-2', 1), resourceSlice('b-1', 2)],
      },
    ])
    assert.equal(gauges['default/s,cluster'], 1)
  })
})
