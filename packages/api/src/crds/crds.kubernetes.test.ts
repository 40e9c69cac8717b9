// SPDX-License-Identifier: Apache-2.0

// Applies the CRDs to a real API server, which must accept, explain and enforce them.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import type { CustomResourceDefinition, Scale } from '../kubernetes/index.ts'
import { smallestPodClique, smallestPodCliqueSet, smallestScalingGroup } from '../testing/smallest-objects.ts'
import type { PodCliqueSet, TopologyConstraint } from '../types/index.ts'
import { crd, customResourceDefinitions } from './index.ts'

let kubernetes: Kubernetes
const grove = '/apis/grove.io/v1alpha1/namespaces/default'
const sets = `${grove}/podcliquesets`

before(async () => {
  kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
})
after(() => kubernetes?.stop())

function manifests(all: readonly object[]): string {
  return all.map(one => JSON.stringify(one)).join('\n---\n')
}

describe('installation', () => {
  test('a client-side apply has room for its last-applied annotation', async () => {
    const input = manifests(customResourceDefinitions)
    const { code, stderr } = await kubernetes.kubectl('apply', '--dry-run=server', '-f', '-', { input })
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  })

  test('a server-side apply is accepted without a warning', async () => {
    const input = manifests(customResourceDefinitions)
    const { code, stderr } = await kubernetes.kubectl('apply', '--server-side', '-f', '-', { input })
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  })

  for (const { metadata } of customResourceDefinitions)
    test(`${metadata.name} is established and structural`, async () => {
      const conditions = await established(metadata.name)
      assert.equal(conditions.get('NamesAccepted'), 'True')
      assert.notEqual(conditions.get('NonStructuralSchema'), 'True')
    })
})

async function established(name: string): Promise<Map<string, string>> {
  return waitFor(`${name} to be established`, async () => {
    const { status } = await kubernetes.request<CustomResourceDefinition>(
      'GET',
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
    )
    const conditions = new Map(status?.conditions?.map(({ type, status }) => [type, status]))
    return conditions.get('Established') === 'True' && conditions
  })
}

describe('kubectl explain', () => {
  const table: [string, RegExp][] = [
    ['pcs', /PodCliqueSet describes a multi-node inference system/],
    ['pcs.spec.template', /cliqueStartupType\s+<string>\n\s+enum: CliqueStartupTypeAnyOrder/],
    [
      'pcs.spec.template.cliques.spec',
      /minAvailable\s+<integer>\n\s+Number of pods that are scheduled together/,
    ],
    ['pcs.spec.template.cliques.spec', /podSpec\s+<Object> -required-\n[\s\S]*kubectl explain\s+pod\.spec/],
    ['pcs.spec.template.cliques.spec.podSpec.containers.ports', /containerPort\s+<integer> -required-/],
    ['pcs.status', /availableReplicas\s+<integer> -required-/],
    ['pclq.status', /scheduleGatedReplicas\s+<integer> -required-\n\s+Pods with a scheduling gate/],
    ['pcsg.spec', /Number of replicas. Each replica/],
    ['ct.spec.levels', /Key of the node label/],
    ['pg.spec.podgroups', /minReplicas\s+<integer> -required-/],
  ]
  for (const [path, wanted] of table)
    test(`${path} shows ${wanted.source.slice(0, 30)}`, async () => {
      // The OpenAPI, which kubectl explain reads, follows a CRD with a delay.
      await waitFor(`kubectl explain ${path}`, async () => {
        const { stdout, stderr } = await kubernetes.kubectl('explain', path)
        assert.match(stdout + stderr, wanted)
        return true
      })
    })
})

describe('rules of a topology constraint', () => {
  const set = (constraint: TopologyConstraint): PodCliqueSet => {
    const object = smallestPodCliqueSet('rules')
    object.spec.template.topologyConstraint = constraint
    return object
  }
  const ofClique = (constraint: TopologyConstraint): PodCliqueSet => {
    const object = smallestPodCliqueSet('rules')
    object.spec.template.cliques[0]!.topologyConstraint = constraint
    return object
  }
  const ofGroup = (constraint: TopologyConstraint): PodCliqueSet => {
    const object = smallestPodCliqueSet('rules')
    object.spec.template.podCliqueScalingGroups = [
      { name: 'group', cliqueNames: ['web'], topologyConstraint: constraint },
    ]
    return object
  }
  const places: [string, (constraint: TopologyConstraint) => PodCliqueSet, string][] = [
    ['a set', set, 'spec.template.topologyConstraint'],
    ['a clique', ofClique, 'spec.template.cliques[0].topologyConstraint'],
    ['a scaling group', ofGroup, 'spec.template.podCliqueScalingGroups[0].topologyConstraint'],
  ]
  const forbidden = 'packDomain is deprecated and cannot be used on new workloads; use pack.required'

  for (const [name, build, path] of places) {
    const accepted: TopologyConstraint[] = [
      { pack: { required: 'rack' } },
      { pack: { preferred: 'host' } },
      { topologyName: 'site', pack: { required: 'zone', preferred: 'rack' } },
    ]
    for (const constraint of accepted)
      test(`${name} may have ${JSON.stringify(constraint)}`, () => create(build(constraint)))

    test(`${name} requires pack`, () =>
      assertRejected(create(build({ topologyName: 'site' })), {
        field: `${path}.pack`,
        problem: 'Required value: topologyConstraint must specify pack or deprecated packDomain',
      }))

    test(`${name} requires a domain in pack`, () =>
      assertRejected(create(build({ pack: {} })), {
        field: `${path}.pack`,
        problem: 'Required value: pack must specify at least one of required or preferred',
      }))

    test(`${name} rejects packDomain in a new object`, () =>
      assertRejected(create(build({ packDomain: 'rack' })), {
        field: path.includes('[') ? path.slice(0, path.indexOf('[')) : `${path}.packDomain`,
        problem: `Forbidden: ${forbidden}`,
      }))

    for (const domain of ['', 'Rack', '1rack', 'a_b', 'x'.repeat(64)])
      test(`${name} cannot be packed into ${JSON.stringify(domain)}`, () =>
        assertRejected(create(build({ pack: { required: domain } })), { field: `${path}.pack.required` }))
  }

  describe('for stored objects with packDomain', () => {
    const all = () => {
      const object = smallestPodCliqueSet('stored')
      object.spec.template.topologyConstraint = { topologyName: 'site', packDomain: 'zone' }
      object.spec.template.cliques[0]!.topologyConstraint = { packDomain: 'rack' }
      object.spec.template.podCliqueScalingGroups = [
        { name: 'group', cliqueNames: ['web'], topologyConstraint: { packDomain: 'block' } },
      ]
      return object
    }

    before(async () => {
      await install(withoutRules(crd('PodCliqueSet')))
      await waitFor('the rules to be removed', () => kubernetes.request('POST', sets, { body: all() }))
      await install(crd('PodCliqueSet'))
      await waitFor('the rules to be restored', async () => {
        await assertRejected(create(set({ packDomain: 'rack' })), { problem: forbidden })
        return true
      })
    })

    test('an update that keeps it is allowed', () => update(object => object))
    test('an update that changes it is allowed', () =>
      update(object => {
        object.spec.template.topologyConstraint!.packDomain = 'region'
        return object
      }))
    test('pack.preferred is allowed together with it', () =>
      update(object => {
        object.spec.template.cliques[0]!.topologyConstraint!.pack = { preferred: 'host' }
        return object
      }))
    test('pack.required is not allowed together with it', () =>
      assertRejected(
        update(object => {
          object.spec.template.topologyConstraint!.pack = { required: 'zone' }
          return object
        }),
        {
          field: 'spec.template.topologyConstraint.pack.required',
          problem: 'must not set both pack.required and deprecated packDomain',
        },
      ))

    async function update(change: (object: PodCliqueSet) => PodCliqueSet): Promise<void> {
      const stored = await kubernetes.request<PodCliqueSet>('GET', `${sets}/stored`)
      await kubernetes.request('PUT', `${sets}/stored?dryRun=All`, { body: change(stored) })
    }
  })
})

describe('status', () => {
  const counters: [string, object, string[]][] = [
    ['podcliquesets', smallestPodCliqueSet('counted'), ['updatedReplicas', 'availableReplicas']],
    [
      'podcliques',
      smallestPodClique('counted'),
      ['readyReplicas', 'updatedReplicas', 'scheduleGatedReplicas', 'scheduledReplicas'],
    ],
    [
      'podcliquescalinggroups',
      smallestScalingGroup('counted'),
      ['scheduledReplicas', 'availableReplicas', 'updatedReplicas'],
    ],
  ]
  const selectors: Record<string, string> = { podcliquescalinggroups: 'selector' }

  for (const [resource, object, names] of counters)
    test(`of ${resource} counts from zero and supports the scale subresource`, async () => {
      await kubernetes.request('POST', `${grove}/${resource}`, { body: object })
      const path = `${grove}/${resource}/counted`
      const selector = selectors[resource] ?? 'hpaPodSelector'
      const { status } = await kubernetes.request<{ status: object }>('PATCH', `${path}/status`, {
        body: { status: { replicas: 3, [selector]: 'a=b' } },
        contentType: 'application/merge-patch+json',
      })
      const zero = Object.fromEntries(names.map(name => [name, 0]))
      assert.deepEqual(status, { replicas: 3, [selector]: 'a=b', ...zero })
      const scale = await kubernetes.request<Scale>('GET', `${path}/scale`)
      assert.deepEqual(scale.status, { replicas: 3, selector: 'a=b' })
    })

  test('accepts conditions of the standard form only', async () => {
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Because',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const patch = (change: object) =>
      kubernetes.request('PATCH', `${grove}/podcliques/counted/status?dryRun=All`, {
        body: { status: { conditions: [{ ...condition, ...change }] } },
        contentType: 'application/merge-patch+json',
      })
    await patch({})
    const wrong = [
      { status: 'Maybe' },
      { reason: '' },
      { reason: 'two args' },
      { type: '-' },
      { message: null },
      { observedGeneration: -1 },
    ]
    for (const change of wrong) await assert.rejects(patch(change), /422/, JSON.stringify(change))
  })
})

describe('kubectl get', () => {
  const table: [string, string][] = [
    ['pcs', 'NAME REPLICAS AVAILABLE UPDATED PCLQS-UPDATED PCLQS-TOTAL PCSGS-UPDATED PCSGS-TOTAL AGE'],
    ['pclq -o wide', 'NAME MINAVAIL REPLICAS READY SCHEDULED UPDATED GATED MINBREACHED AGE'],
    ['pclq', 'NAME MINAVAIL REPLICAS READY SCHEDULED UPDATED AGE'],
    ['pcsg', 'NAME MINAVAIL REPLICAS AVAILABLE SCHEDULED UPDATED PCLQS-UPDATED PCLQS-TOTAL AGE'],
    [
      'pcsg -o wide',
      'NAME MINAVAIL REPLICAS AVAILABLE SCHEDULED UPDATED PCLQS-UPDATED PCLQS-TOTAL MINBREACHED AGE',
    ],
  ]
  for (const [args, wanted] of table)
    test(`${args} prints ${wanted}`, async () => {
      const { stdout } = await kubernetes.kubectl('get', ...args.split(' '))
      assert.equal(stdout.split('\n')[0]?.trim().replaceAll(/\s+/g, ' '), wanted)
    })
})

async function create(object: PodCliqueSet): Promise<void> {
  await kubernetes.request('POST', `${sets}?dryRun=All`, { body: object })
}

function install(one: CustomResourceDefinition): Promise<void> {
  return kubernetes.apply(one, '--force-conflicts')
}

function withoutRules(one: CustomResourceDefinition): CustomResourceDefinition {
  return JSON.parse(
    JSON.stringify(one, (key, value: unknown) => (key === 'x-kubernetes-validations' ? undefined : value)),
  ) as CustomResourceDefinition
}

async function assertRejected(
  request: Promise<unknown>,
  { field, problem }: { field?: string; problem?: string },
): Promise<void> {
  await assert.rejects(request, (error: Error) => {
    assert.match(error.message, /returned 422/)
    if (field) assert.ok(error.message.includes(`${field}: `), `${error.message}\nnames ${field}`)
    if (problem) assert.ok(error.message.includes(problem), `${error.message}\nsays ${problem}`)
    return true
  })
}
