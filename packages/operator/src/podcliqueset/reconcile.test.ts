// SPDX-License-Identifier: Apache-2.0

// Tests single reconciles of a set: the order of its writes, reports of failed writes, and the requests of a deletion.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { annotation, finalizer } from '@grove/api'
import { resources } from '../caches/resources.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { failure } from '../testing/simulation/api.ts'
import { converge } from '../testing/simulation/convergence.ts'
import { RecordedSimulation } from '../testing/simulation/recorded.ts'
import { setName } from '../testing/simulation/simulation.ts'

const shape = (replicas = 1) =>
  sampleSet({
    name: setName,
    replicas,
    cliques: [clique('web', { replicas: 2 }), clique('work')],
    groups: [group('g', ['work'], 2, 1)],
  })

async function convergedSet(replicas = 1): Promise<RecordedSimulation> {
  const simulation = new RecordedSimulation(shape(replicas))
  assert.ok(await converge(simulation, 60))
  await simulation.reconcileAll()
  return simulation
}

const edit = (simulation: RecordedSimulation, spec: object) =>
  simulation.api.modify(resources.podCliqueSets, setName, { spec })

describe('the first reconcile', () => {
  test('creates objects in the order of their dependencies', async () => {
    const simulation = new RecordedSimulation(shape())
    assert.equal(await simulation.reconcileSet(), undefined)
    const at = (write: string) => {
      const found = simulation.writes.indexOf(write)
      assert.ok(found >= 0, `${write} is missing in ${simulation.writes.join(', ')}`)
      return found
    }
    assert.equal(at('patch podcliquesets'), 0, 'the finalizer is added before the objects that it protects')
    assert.ok(at('create serviceaccounts') < at('create secrets'), 'the token is created after its account')
    assert.ok(at('create roles') < at('create rolebindings'))
    assert.ok(at('create services') < at('create podcliques'))
    assert.ok(at('create podcliques') < at('create podcliquescalinggroups'))
    assert.equal(simulation.writes.at(-1), 'patch podcliquesets')
  })

  test('creates an autoscaler after the objects that it scales', async () => {
    const scaled = shape()
    scaled.spec.template.cliques[0]!.spec.autoScalingConfig = { minReplicas: 2, maxReplicas: 4 }
    const simulation = new RecordedSimulation(scaled)
    await simulation.reconcileSet()
    const created = (resource: string) => simulation.writes.indexOf(`create ${resource}`)
    assert.ok(created('podcliquescalinggroups') > 0)
    assert.ok(created('podcliquescalinggroups') < created('horizontalpodautoscalers'))
    assert.ok(created('podcliques') < created('horizontalpodautoscalers'))
  })

  test('of a restarted operator finds everything in sync and writes nothing', async () => {
    const simulation = await convergedSet(2)
    simulation.restart()
    assert.equal(await simulation.reconcileSet(), undefined)
    assert.deepEqual([simulation.writes, simulation.events], [[], []])
  })

  test('does not wait for a token: it creates cliques while the Secret is empty', async () => {
    const simulation = new RecordedSimulation(shape())
    await simulation.reconcileSet()
    assert.equal(simulation.api.get(resources.secrets, 'w-ic-sat')?.data, undefined)
    assert.equal(simulation.cliques.length, 1)
    assert.deepEqual(simulation.lastErrors, [])
  })

  test('sets observedGeneration when the gangs have their pods, not before', async () => {
    const simulation = new RecordedSimulation(shape())
    await simulation.reconcileSet()
    assert.equal(simulation.set.status?.observedGeneration, undefined)
    assert.ok(await converge(simulation, 60))
    assert.equal(simulation.set.status?.observedGeneration, 1)
  })
})

describe('events on the set', () => {
  const applied = (name: string) =>
    `Normal PodCliqueCreateOrUpdateSuccessful PodClique serving/${name} created or updated successfully`
  const grouped = (name: string) =>
    `Normal PodCliqueScalingGroupCreateSuccessful Created PodCliqueScalingGroup serving/${name}`

  test('are emitted once for each created child, with the controller as source, and not for a reconcile without changes', async () => {
    const simulation = new RecordedSimulation(shape(2))
    await simulation.reconcileSet()
    assert.deepEqual(simulation.events, [
      applied('w-0-web'),
      applied('w-1-web'),
      grouped('w-0-g'),
      grouped('w-1-g'),
    ])
    for (const { about, source } of simulation.emitted)
      assert.deepEqual([about, source], ['PodCliqueSet w', 'podcliqueset-controller'])
    assert.ok(await converge(simulation, 60))
    await simulation.reconcileAll()
    for (let look = 0; look < 10; look++) {
      const metadata = { annotations: { [annotation.reconcileTrigger]: String(look) } }
      simulation.api.modify(resources.podCliqueSets, setName, { metadata })
      await simulation.reconcileSet()
      assert.deepEqual([simulation.events, simulation.writes], [[], []])
    }
  })

  test('are emitted for objects that are deleted when the set is scaled in', async () => {
    const simulation = await convergedSet(3)
    edit(simulation, { replicas: 1 })
    await simulation.reconcileSet()
    assert.deepEqual(simulation.events.toSorted(), [
      'Normal PodCliqueDeleteSuccessful Deleted PodClique: w-1-web',
      'Normal PodCliqueDeleteSuccessful Deleted PodClique: w-2-web',
      'Normal PodCliqueScalingGroupDeleteSuccessful Deleted PodCliqueScalingGroup serving/w-1-g',
      'Normal PodCliqueScalingGroupDeleteSuccessful Deleted PodCliqueScalingGroup serving/w-2-g',
      ...['w-1', 'w-1-g-0', 'w-2', 'w-2-g-0'].map(
        name => `Normal PodGangDeleteSuccessful Deleted PodGang serving/${name}`,
      ),
    ])
  })

  const rejected: [what: string, write: string, edit: object, events: string[], errors: RegExp[]][] = [
    [
      'cliques whose creation fails',
      'create podcliques',
      { replicas: 2 },
      [
        'Warning PodCliqueCreateOrUpdateFailed PodClique serving/w-1-web creation or updation failed: Internal: podcliques',
      ],
      [
        /^ERR_SYNC_PODCLIQUE failed to sync PodClique: \[Operation: Sync, Code: ERR_SYNC_PODCLIQUE\] message: PodClique serving\/w-1-web cannot be written, cause: Internal/,
      ],
    ],
    [
      'groups whose creation fails',
      'create podcliquescalinggroups',
      { replicas: 2 },
      [
        applied('w-1-web'),
        'Warning PodCliqueScalingGroupCreateOrUpdateFailed Error creating or updating PodCliqueScalingGroup serving/w-1-g: Internal: podcliquescalinggroups',
      ],
      [/^ERR_SYNC_PODCLIQUESCALINGGROUP failed to sync PodCliqueScalingGroup: /],
    ],
    [
      'replicas whose deletion fails',
      'delete podcliques',
      { replicas: 0 },
      [
        'Normal PodGangDeleteSuccessful Deleted PodGang serving/w-0',
        'Normal PodGangDeleteSuccessful Deleted PodGang serving/w-0-g-0',
        'Warning PodCliqueDeleteFailed Error deleting PodClique serving/w-0-web: Internal: podcliques',
        'Warning PodCliqueScalingGroupDeleteFailed Error deleting PodCliqueScalingGroup serving/w-0-g: Internal: podcliques',
      ],
      [/^ERR_DELETE_PODCLIQUE failed to sync PodClique: /],
    ],
    [
      'gangs whose deletion fails',
      'delete podgangs',
      { replicas: 0 },
      [
        'Normal PodCliqueDeleteSuccessful Deleted PodClique: w-0-web',
        'Normal PodCliqueScalingGroupDeleteSuccessful Deleted PodCliqueScalingGroup serving/w-0-g',
        'Warning PodGangDeleteFailed Error deleting PodGang serving/w-0: Internal: podgangs',
        'Warning PodGangDeleteFailed Error deleting PodGang serving/w-0-g-0: Internal: podgangs',
      ],
      [/^ERR_DELETE_EXCESS_PODGANG failed to sync PodGang: /, /^ERR_DELETE_EXCESS_PODGANG /],
    ],
  ]
  for (const [what, write, spec, events, errors] of rejected)
    test(`${what} are reported until they can be written`, async () => {
      const simulation = await convergedSet()
      simulation.reject = ({ verb, resource }) =>
        `${verb} ${resource}` === write ? failure('Internal', resource) : undefined
      edit(simulation, spec)
      assert.notEqual(await simulation.reconcileSet(), undefined)
      assert.deepEqual(simulation.events.toSorted(), events.toSorted())
      assert.equal(simulation.lastErrors.length, errors.length)
      for (const [at, pattern] of errors.entries()) assert.match(simulation.lastErrors[at]!, pattern)
      assert.equal(simulation.set.status?.observedGeneration, 1, 'not fully applied')
      simulation.reject = () => undefined
      assert.equal(await simulation.reconcileSet(), undefined)
      assert.deepEqual(simulation.lastErrors, [])
    })
})

describe('failures', () => {
  const laterChildren = (simulation: RecordedSimulation) => [
    simulation.cliques.length,
    simulation.groups.length,
  ]

  test('an unexpected exception counts as a failure of its component and stops later components', async () => {
    const simulation = new RecordedSimulation(shape())
    simulation.reject = ({ resource }) =>
      resource === 'services' ? new TypeError('x is not a function') : undefined
    assert.notEqual(await simulation.reconcileSet(), undefined)
    assert.equal(simulation.lastErrors.length, 1)
    assert.match(
      simulation.lastErrors[0]!,
      /^ERR_SYNC_PODCLIQUESET_SERVICE failed to sync HeadlessService: .*x is not a function/,
    )
    assert.deepEqual(laterChildren(simulation), [0, 0])
    assert.equal(
      simulation.api.list(resources.serviceAccounts).length,
      1,
      'other components of its group continue',
    )
    assert.equal(simulation.set.status?.observedGeneration, undefined)
  })

  test('reports a contradictory template as a failure of the component that cannot be built from it', async () => {
    const set = shape()
    const broken = new RecordedSimulation({
      ...set,
      spec: {
        ...set.spec,
        template: { ...set.spec.template, podCliqueScalingGroups: [group('g', ['unknown'])] },
      },
    })
    assert.notEqual(await broken.reconcileSet(), undefined)
    assert.match(broken.lastErrors.join(), /failed to sync \w+: scaling group g names the clique unknown/)
    assert.equal(broken.set.status?.observedGeneration, undefined)
  })

  test('reports all failures of components that only running pods need, and still creates pods', async () => {
    const simulation = new RecordedSimulation(shape())
    simulation.reject = ({ resource }) =>
      resource === 'roles' || resource === 'secrets' ? failure('Forbidden', resource) : undefined
    await simulation.reconcileSet()
    assert.deepEqual(
      simulation.lastErrors.map(text => text.split(' [')[0]),
      ['ERR_SYNC_ROLE failed to sync Role:', 'ERR_CREATE_SECRET failed to sync ServiceAccountTokenSecret:'],
    )
    assert.deepEqual(laterChildren(simulation), [1, 1])
    assert.equal(simulation.set.status?.observedGeneration, undefined)
    simulation.reject = () => undefined
    await simulation.reconcileSet()
    assert.deepEqual(simulation.lastErrors, [])
    assert.equal(simulation.api.list(resources.roleBindings).length, 1)
  })

  test('also reports a failure without a code', async () => {
    const simulation = new RecordedSimulation(shape())
    simulation.reject = ({ patch }) =>
      JSON.stringify(patch ?? '').includes(finalizer.podCliqueSet)
        ? failure('Internal', 'no finalizer')
        : undefined
    await simulation.reconcileSet()
    assert.deepEqual(simulation.lastErrors, ['ERR_UPDATE_PCS_STATUS Internal: no finalizer'])
    simulation.reject = () => undefined
    await simulation.reconcileSet()
    assert.deepEqual(simulation.lastErrors, [])
  })

  test('does not announce a new template with the status write after a failed announcement', async () => {
    const simulation = await convergedSet()
    const { currentGenerationHash } = simulation.set.status!
    const template = structuredClone(simulation.set.spec.template)
    template.cliques[0]!.spec.podSpec.containers[0]!.image = 'registry.example/main:2'
    edit(simulation, { template })
    simulation.reject = ({ patch }) =>
      JSON.stringify(patch ?? '').includes('updateStartedAt') ? failure('Conflict', 'w') : undefined
    await simulation.reconcileSet()
    assert.equal(simulation.set.status?.currentGenerationHash, currentGenerationHash)
    assert.equal(simulation.set.status?.updateProgress, undefined)
    simulation.reject = () => undefined
    await simulation.reconcileSet()
    assert.notEqual(simulation.set.status?.currentGenerationHash, currentGenerationHash)
    assert.equal(simulation.set.status?.observedGeneration, 1, 'a running update does not advance')
    assert.ok(await converge(simulation, 100))
    assert.equal(simulation.set.status?.observedGeneration, 2)
  })

  test('writes a deleted status again without changing pods', async () => {
    const simulation = await convergedSet()
    const before = structuredClone(simulation.set.status)
    const pods = simulation.api.list(resources.pods).map(({ metadata }) => metadata.uid)
    simulation.api.modify(resources.podCliqueSets, setName, { status: null })
    await simulation.reconcileAll()
    const [available] = simulation.set.status?.conditions ?? []
    assert.equal(available?.type, 'Available')
    for (const one of before?.conditions ?? []) one.lastTransitionTime = available!.lastTransitionTime
    assert.deepEqual(simulation.set.status, before)
    assert.deepEqual(
      simulation.api.list(resources.pods).map(({ metadata }) => metadata.uid),
      pods,
    )
  })
})

test('an exhausted quota causes few rejected requests, a bounded status and one Stalled report', async () => {
  const simulation = new RecordedSimulation(shape(400))
  simulation.reject = ({ verb, resource }) =>
    verb === 'create' && resource === 'podcliques' ? failure('Forbidden', 'exceeded quota') : undefined
  assert.notEqual(await simulation.reconcileSet(), undefined)
  assert.equal(simulation.writes.filter(write => write === 'create podcliques').length, 8)
  assert.equal(simulation.writes.filter(write => write === 'create services').length, 64)
  assert.equal(simulation.emitted.filter(({ event }) => event.type === 'Warning').length, 8)
  assert.ok(simulation.lastErrors.length <= 21)
  assert.match(simulation.lastErrors.at(-1)!, /392 more PodClique objects wait until these can be created/)
  const statusWritten = async () => {
    simulation.writes.length = 0
    await simulation.clock.advance(60_000)
    await simulation.reconcileSet()
    return simulation.writes.includes('patch podcliquesets')
  }
  assert.equal(await statusWritten(), true)
  const stalled = simulation.set.status?.conditions?.find(({ type }) => type === 'Stalled')
  assert.equal(stalled?.reason, 'ReconcileFailed')
  assert.match(stalled.message, /exceeded quota/)
  assert.equal(await statusWritten(), false)
  assert.equal(
    simulation.api.list(resources.services).length,
    64,
    'no Services for cliques that do not exist',
  )
})

test('creates replicas in growing slices, each with its Services first and its gangs last', async () => {
  const simulation = new RecordedSimulation(shape(400))
  const slices: [services: number, cliques: number, gangs: number][] = []
  for (;;) {
    simulation.writes.length = 0
    assert.equal(await simulation.reconcileSet(), undefined)
    const created = (kind: string) => simulation.writes.filter(write => write === `create ${kind}`).length
    if (created('podcliques') === 0) break
    slices.push([created('services'), created('podcliques'), simulation.enqueuedGangs.length])
  }
  assert.deepEqual(slices, [
    [64, 64, 128],
    [336, 336, 800],
  ])
})

test('a failing termination is reported and does not stop the sync of the set', async () => {
  const delayed = shape()
  const template = { ...delayed.spec.template, terminationDelay: '1m' }
  const simulation = new RecordedSimulation({ ...delayed, spec: { ...delayed.spec, template } })
  assert.ok(await converge(simulation, 60))
  for (const pod of simulation.api.list(resources.pods)) simulation.nodes.stopServing(pod)
  await simulation.reconcileAll()
  await simulation.clock.advance(2 * 60_000)
  simulation.reject = ({ verb, resource }) =>
    verb === 'delete' && resource === 'podcliques' ? failure('Internal', resource) : undefined
  edit(simulation, { replicas: 2 })
  assert.notEqual(await simulation.reconcileSet(), undefined)
  assert.match(simulation.lastErrors.join(), /ERR_DELETE_PCS_REPLICA .*Error terminating replica 0/)
  assert.notEqual(simulation.api.get(resources.podCliques, 'w-1-web'), undefined)
})

test('an edit that arrives while orphans are adopted is synced by the next reconcile', async () => {
  const simulation = await convergedSet()
  simulation.api.modify(resources.services, 'w-0', { metadata: { ownerReferences: null } })
  const { before, after } = simulation.api.hooks
  simulation.api.hooks = {
    after,
    before: async write => {
      await before(write)
      if (write.verb === 'patch' && write.resource === 'services') edit(simulation, { replicas: 2 })
    },
  }
  assert.equal(await simulation.reconcileSet(), undefined)
  assert.ok(simulation.writes.includes('patch services'), 'the Service is adopted')
  assert.equal(simulation.set.spec.replicas, 2)
  assert.equal(await simulation.reconcileSet(), undefined)
  assert.notEqual(simulation.api.get(resources.podCliques, 'w-1-web'), undefined)
})
