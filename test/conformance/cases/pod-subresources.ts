// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { pod } from '../objects.ts'
import { chapter } from '../suite.ts'

const budget = (name: string) => ({
  metadata: { name },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } } },
})

export const podSubresources = chapter('pod subresources', {
  'a binding sets the node of a pod': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const bound = await http.post(core('pods/p/binding'), {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'n1' },
    })
    assert.equal(bound.status, 201)
    assert.equal(bound.at('status'), 'Success')
    const read = await http.get(core('pods/p'))
    assert.equal(read.at('spec.nodeName'), 'n1')
    assert.equal(read.at('status.conditions.0.type'), 'PodScheduled')
    assert.equal(read.at('status.conditions.0.status'), 'True')
  },
  'a pod can be bound only once': async ({ http, core }) => {
    await http.post(core('pods'), pod('p', { nodeName: 'n1' }))
    const rejected = await http.post(core('pods/p/binding'), {
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'n2' },
    })
    assert.equal(rejected.status, 409)
    assert.equal(
      rejected.at('message'),
      'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
    )
  },
  'rejects the binding of a gated pod': async ({ http, core }) => {
    await http.post(core('pods'), pod('p', { schedulingGates: [{ name: 'example.com/a' }] }))
    const rejected = await http.post(core('pods/p/binding'), {
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'n2' },
    })
    assert.equal(rejected.status, 409)
    assert.match(rejected.text('message'), /pod p has non-empty \.spec\.schedulingGates/)
  },
  'rejects invalid options of a log': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const table = {
      'tailLines=-1': 'tailLines: Invalid value: -1: must be greater than or equal to 0',
      'limitBytes=0': 'limitBytes: Invalid value: 0: must be greater than 0',
      'sinceSeconds=0': 'sinceSeconds: Invalid value: 0: must be greater than 0',
    }
    for (const [query, message] of Object.entries(table)) {
      const rejected = await http.get(core(`pods/p/log?${query}`))
      assert.deepEqual(
        [rejected.status, rejected.at('message')],
        [422, `PodLogOptions "p" is invalid: ${message}`],
      )
    }
    const rejected = await http.get(core('pods/p/log?tailLines=x'))
    assert.deepEqual(
      [rejected.status, rejected.at('message')],
      [400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    )
  },
  'an eviction deletes a pod': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const evicted = await http.post(core('pods/p/eviction'), {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p' },
    })
    assert.equal(evicted.status, 201)
    assert.equal(evicted.at('status'), 'Success')
    assert.equal((await http.get(core('pods/p'))).status, 404)
  },
  'a disruption budget without allowed disruptions rejects an eviction': async ({ http, core, group }) => {
    await http.post(group('policy/v1', 'poddisruptionbudgets'), budget('b'))
    await http.post(core('pods'), pod('p', { nodeName: 'n1' }, { labels: { app: 'x' } }))
    await http.mergePatch(core('pods/p/status'), {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    })
    await http.mergePatch(group('policy/v1', 'poddisruptionbudgets/b/status'), {
      status: {
        observedGeneration: 1,
        disruptionsAllowed: 0,
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods: 1,
      },
    })
    const rejected = await http.post(core('pods/p/eviction'), {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'p' },
    })
    assert.equal(rejected.status, 429)
    assert.equal(rejected.at('message'), "Cannot evict pod as it would violate the pod's disruption budget.")
    assert.deepEqual(rejected.at('details.causes'), [
      {
        reason: 'DisruptionBudget',
        message: 'The disruption budget b needs 1 healthy pods and has 1 currently',
      },
    ])
  },
  'an eviction decrements the allowed disruptions': async ({ http, core, group }) => {
    await http.post(group('policy/v1', 'poddisruptionbudgets'), budget('b'))
    await http.post(core('pods'), pod('p', { nodeName: 'n1' }, { labels: { app: 'x' } }))
    await http.mergePatch(core('pods/p/status'), {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    })
    await http.mergePatch(group('policy/v1', 'poddisruptionbudgets/b/status'), {
      status: {
        observedGeneration: 1,
        disruptionsAllowed: 1,
        currentHealthy: 2,
        desiredHealthy: 1,
        expectedPods: 2,
      },
    })
    assert.equal(
      (
        await http.post(core('pods/p/eviction'), {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'p' },
        })
      ).status,
      201,
    )
    const after = await http.get(group('policy/v1', 'poddisruptionbudgets/b'))
    assert.equal(after.at('status.disruptionsAllowed'), 0)
    assert.equal(typeof after.at('status.disruptedPods.p'), 'string')
  },
  'the log of a pod without a node is empty': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const log = await http.get(core('pods/p/log'))
    assert.equal(log.status, 204)
    assert.equal(log.raw, '')
  },
  'the log of a pod with several containers requires a container name': async ({ http, core }) => {
    await http.post(
      core('pods'),
      pod('p', {
        containers: [
          { name: 'a', image: 'i' },
          { name: 'b', image: 'i' },
        ],
      }),
    )
    const rejected = await http.get(core('pods/p/log'))
    assert.equal(rejected.status, 400)
    assert.equal(rejected.at('message'), 'a container name must be specified for pod p, choose one of: [a b]')
    const unknown = await http.get(core('pods/p/log'), { query: { container: 'c' } })
    assert.equal(unknown.at('message'), 'container c is not valid for pod p')
  },
  'a priority class sets the priority of a pod': async ({ http, core, id }) => {
    await http.post('/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: id },
      value: 42,
      preemptionPolicy: 'Never',
    })
    const made = await http.post(core('pods'), pod('p', { priorityClassName: id }))
    assert.equal(made.at('spec.priority'), 42)
    assert.equal(made.at('spec.preemptionPolicy'), 'Never')
  },
  'rejects a priority class that does not exist': async ({ http, core, id }) => {
    const rejected = await http.post(core('pods'), pod('p', { priorityClassName: `${id}-none` }))
    assert.equal(rejected.status, 403)
    assert.equal(
      rejected.at('message'),
      `pods "p" is forbidden: no PriorityClass with name ${id}-none was found`,
    )
  },
  'adds an ephemeral container through its subresource': async ({ http, core }) => {
    await http.post(core('pods'), pod('p'))
    const patched = await http.strategicPatch(core('pods/p/ephemeralcontainers'), {
      spec: { ephemeralContainers: [{ name: 'debug', image: 'i' }] },
    })
    assert.equal(patched.status, 200)
    assert.equal(patched.at('spec.ephemeralContainers.0.name'), 'debug')
  },
})
