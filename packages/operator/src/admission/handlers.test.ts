// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { type AdmissionRequest, type Client, KubeError, systemClock } from '@grove/kube'
import { admissionHandlers, authorizerHandler } from './handlers.ts'

const operator = 'system:serviceaccount:grove-system:grove-operator'
const collector = 'system:serviceaccount:kube-system:generic-garbage-collector'

describe('the protection of managed objects', () => {
  const lookups: string[] = []
  const client = {
    get: async (_: unknown, { namespace, name }: { namespace: string; name: string }) => {
      lookups.push(`${namespace}/${name}`)
      if (name === 'gone') throw new KubeError({ code: 'NotFound', message: 'not found' })
      if (name === 'slow') throw new KubeError({ code: 'Timeout', message: 'took too long' })
      const annotations = name === 'open' ? { 'grove.io/disable-managed-resource-protection': 'true' } : {}
      return { metadata: { name, namespace, annotations } }
    },
  } as unknown as Client
  const configuration = {
    ...defaultConfiguration(),
    authorizer: {
      ...defaultConfiguration().authorizer,
      enabled: true,
      exemptServiceAccountUserNames: [collector],
    },
  }
  const handle = authorizerHandler({ client, configuration }, operator)

  async function ask(username: string, set: string, owner?: string) {
    lookups.length = 0
    const object = {
      metadata: {
        name: 'demo-0-web',
        namespace: 'work',
        labels: { 'app.kubernetes.io/managed-by': 'grove-operator', 'app.kubernetes.io/part-of': set },
        ...(owner && {
          ownerReferences: [
            { apiVersion: 'grove.io/v1alpha1', kind: 'PodCliqueSet', name: owner, controller: true },
          ],
        }),
      },
    }
    const request: AdmissionRequest = {
      uid: '1',
      operation: 'UPDATE',
      namespace: 'work',
      kind: { group: 'grove.io', version: 'v1alpha1', kind: 'PodClique' },
      resource: { group: 'grove.io', version: 'v1alpha1', resource: 'podcliques' },
      userInfo: { username },
      object,
      oldObject: object,
    }
    const signal = new AbortController().signal
    const response = await handle(request, { signal, clock: systemClock } as never)
    return { ...response, lookups: [...lookups] }
  }

  test('allows the operator and exempt users without a lookup of the set', async () => {
    for (const username of [operator, collector]) {
      const { allowed, lookups: sets } = await ask(username, 'demo')
      assert.equal(allowed, true)
      assert.deepEqual(sets, [], username)
    }
  })

  test('looks up the set for every other user, and decides by it', async () => {
    const rows: [string, string | undefined, number, string[]][] = [
      ['demo', undefined, 403, ['work/demo']],
      ['open', undefined, 200, ['work/open']],
      ['gone', undefined, 200, ['work/gone']],
      ['slow', undefined, 500, ['work/slow']],
      // The controller reference takes precedence over the label.
      ['open', 'demo', 403, ['work/open', 'work/demo']],
    ]
    for (const [set, owner, code, sets] of rows) {
      const response = await ask('alice', set, owner)
      assert.equal(response.code, code, `${set} of ${owner}`)
      assert.deepEqual(response.lookups, sets)
    }
  })
})

describe('the warning about scaling', () => {
  const members: Record<string, object> = {
    member: { 'grove.io/podcliquescalinggroup': 'llm-0-decode', other: 'label' },
    standalone: { other: 'label' },
  }
  const lookups: string[] = []
  const client = {
    get: async (_: unknown, { name }: { name: string }) => {
      lookups.push(name)
      if (!members[name]) throw new KubeError({ code: 'NotFound', message: 'not found' })
      return { metadata: { name, labels: members[name] } }
    },
  } as unknown as Client
  const { warnAboutScaling } = admissionHandlers({ client, configuration: defaultConfiguration() })

  const scale = (replicas: number) => ({
    kind: 'Scale',
    metadata: { name: 'x' },
    spec: replicas ? { replicas } : {},
  })
  const clique = (name: string) => (replicas: number) => ({
    kind: 'PodClique',
    metadata: { name, labels: members[name] },
    spec: { replicas },
  })
  async function ask(name: string, of: (replicas: number) => object, from: number, to: number) {
    lookups.length = 0
    const request = {
      operation: 'UPDATE',
      namespace: 'work',
      name,
      oldObject: of(from),
      object: of(to),
    } as unknown as AdmissionRequest
    const response = await warnAboutScaling(request, { signal: new AbortController().signal } as never)
    assert.equal(response.allowed, true)
    return (response.warnings ?? []).length
  }

  test('is returned for group members whose replicas change, and reads the clique only for a Scale', async () => {
    const rows: [string, (replicas: number) => object, number, number, warnings: number, reads: string[]][] =
      [
        ['member', scale, 1, 3, 1, ['member']],
        ['member', scale, 1, 0, 1, ['member']],
        ['member', scale, 0, 0, 0, ['member']],
        ['standalone', scale, 1, 3, 0, ['standalone']],
        ['gone', scale, 1, 3, 0, ['gone']],
        ['member', clique('member'), 1, 3, 1, []],
        ['member', clique('member'), 3, 3, 0, []],
        ['standalone', clique('standalone'), 1, 3, 0, []],
      ]
    for (const [name, of, from, to, warnings, reads] of rows) {
      assert.equal(await ask(name, of, from, to), warnings, `${name} ${from} ${to}`)
      assert.deepEqual(lookups, reads)
    }
  })
})

describe('objects that cannot be decoded', () => {
  const client = {} as Client
  const handlers = admissionHandlers({ client, configuration: defaultConfiguration() })
  const context = { signal: new AbortController().signal } as never
  const set = (template: object, metadata: object = {}) => ({
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'demo', namespace: 'work', ...metadata },
    spec: {
      replicas: 1,
      template: {
        cliqueStartupType: 'CliqueStartupTypeAnyOrder',
        cliques: [
          {
            name: 'web',
            spec: {
              roleName: 'web',
              replicas: 1,
              minAvailable: 1,
              podSpec: { containers: [{ name: 'main', image: 'registry.example/web:1' }] },
            },
          },
        ],
        ...template,
      },
    },
  })
  const broken = { terminationDelay: 'abc' }
  const terminating = { deletionTimestamp: '2026-01-01T00:00:00Z' }

  async function update(path: keyof typeof handlers, oldObject: object, object: object) {
    const request = { uid: '1', operation: 'UPDATE', namespace: 'work', oldObject, object }
    return handlers[path](request as unknown as AdmissionRequest, context)
  }

  for (const webhook of ['defaultPodCliqueSet', 'validatePodCliqueSet'] as const) {
    test(`${webhook} lets them lose their finalizers while they are deleted`, async () => {
      const response = await update(
        webhook,
        set(broken, { ...terminating, finalizers: ['a'] }),
        set(broken, terminating),
      )
      assert.deepEqual([response.allowed, response.code, response.patch], [true, 200, undefined])
    })

    test(`${webhook} lets users repair them`, async () => {
      const response = await update(webhook, set(broken), set({ terminationDelay: '4h0m0s' }))
      assert.equal(response.message, undefined)
      assert.equal(response.allowed, true)
    })

    test(`${webhook} still rejects them otherwise`, async () => {
      const response = await update(webhook, set({ terminationDelay: '4h0m0s' }), set(broken))
      assert.deepEqual([response.allowed, response.code], [false, 400])
    })
  }

  test('can be repaired only by objects that are valid by themselves', async () => {
    const response = await update('validatePodCliqueSet', set(broken), set({ terminationDelay: '0s' }))
    assert.deepEqual([response.allowed, response.code], [false, 403])
    assert.match(response.message ?? '', /spec\.template\.terminationDelay: Invalid value/)
  })

  test('cannot be created with a deletionTimestamp', async () => {
    const request = { uid: '1', operation: 'CREATE', namespace: 'work', object: set(broken, terminating) }
    const response = await handlers.validatePodCliqueSet(request as unknown as AdmissionRequest, context)
    assert.deepEqual([response.allowed, response.code], [false, 400])
  })

  test('do not block the deletion of a topology binding', async () => {
    const binding = { metadata: { name: 'site', ...terminating }, spec: { levels: 'none' } }
    assert.equal((await update('validateClusterTopology', binding, binding)).allowed, true)
  })
})

describe('the protection of managed objects', () => {
  test('looks up at most the controller and the label of both objects, however many owners there are', async () => {
    const lookups: string[] = []
    const client = {
      get: async (_: unknown, { name }: { name: string }) => {
        lookups.push(name)
        return { metadata: { name, annotations: {} } }
      },
    } as unknown as Client
    const owner = (name: string, controller: boolean) => ({
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodCliqueSet',
      name,
      controller,
    })
    const object = (prefix: string) => ({
      metadata: {
        name: 'demo-0-web',
        namespace: 'work',
        labels: {
          'app.kubernetes.io/managed-by': 'grove-operator',
          'app.kubernetes.io/part-of': `${prefix}-label`,
        },
        ownerReferences: [
          ...Array.from({ length: 1000 }, (_, i) => owner(`${prefix}-${i}`, false)),
          ...Array.from({ length: 1000 }, (_, i) => owner(`${prefix}-controller-${i}`, true)),
        ],
      },
    })
    const request = {
      operation: 'UPDATE',
      namespace: 'work',
      kind: { group: 'grove.io', version: 'v1alpha1', kind: 'PodClique' },
      userInfo: { username: 'alice' },
      object: object('new'),
      oldObject: object('old'),
    }
    const handle = authorizerHandler({ client, configuration: defaultConfiguration() }, operator)
    const response = await handle(
      request as unknown as AdmissionRequest,
      { signal: AbortSignal.timeout(5_000) } as never,
    )
    assert.equal(response.code, 403)
    assert.deepEqual(lookups, ['new-label', 'new-controller-0', 'old-label', 'old-controller-0'])
  })

  test('recognizes the operator by each of its user names', async () => {
    const handle = authorizerHandler(
      { client: {} as Client, configuration: defaultConfiguration() },
      'system:serviceaccount:grove-system:configured',
      operator,
    )
    for (const username of ['system:serviceaccount:grove-system:configured', operator]) {
      const metadata = { name: 'p', namespace: 'work', labels: { 'app.kubernetes.io/part-of': 'demo' } }
      const request = {
        operation: 'UPDATE',
        namespace: 'work',
        kind: { group: 'grove.io', version: 'v1alpha1', kind: 'PodClique' },
        userInfo: { username },
        object: { metadata },
        oldObject: { metadata },
      }
      const response = await handle(request as unknown as AdmissionRequest, {} as never)
      assert.equal(response.allowed, true)
      assert.match(response.message ?? '', /initiated by the grove reconciler service account/)
    }
  })
})
