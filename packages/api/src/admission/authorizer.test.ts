// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  authorize,
  type ProtectionContext,
  type ProtectionRequest,
  type ProtectionResponse,
} from './authorizer.ts'
import type { Lookup } from './cluster-view.ts'

const operator = 'system:serviceaccount:grove-system:grove-operator'
const collector = 'system:serviceaccount:kube-system:generic-garbage-collector'

const context: ProtectionContext = {
  podCliqueSetAnnotations(namespace, name): Lookup<Readonly<Record<string, string>>> {
    if (namespace !== 'work') return { outcome: 'notFound' }
    if (name === 'demo') return { outcome: 'found', value: {} }
    if (name === 'open') {
      return { outcome: 'found', value: { 'grove.io/disable-managed-resource-protection': 'true' } }
    }
    if (name === 'nearly') {
      return { outcome: 'found', value: { 'grove.io/disable-managed-resource-protection': 'True' } }
    }
    return name === 'broken' ? { outcome: 'failed', error: 'timeout' } : { outcome: 'notFound' }
  },
  ownUserName: operator,
  exemptUserNames: [collector],
}

const clique = { group: 'grove.io', version: 'v1alpha1', kind: 'PodClique' }
const pod = { group: '', version: 'v1', kind: 'Pod' }

function managed(set: string | undefined, metadata: object = {}): object {
  const labels = {
    'app.kubernetes.io/managed-by': 'grove-operator',
    ...(set !== undefined && { 'app.kubernetes.io/part-of': set }),
  }
  return { metadata: { name: 'demo-0-web', namespace: 'work', labels, ...metadata } }
}

function ask(request: Partial<ProtectionRequest>, set: string | undefined = 'demo'): ProtectionResponse {
  const object = managed(set)
  return authorize(
    { operation: 'UPDATE', userName: 'alice', kind: clique, object, oldObject: object, ...request },
    context,
  )
}

const allowed = (message: string, ...warnings: string[]): ProtectionResponse => ({
  allowed: true,
  code: 200,
  message,
  warnings,
})
const denied = (code: number, message: string): ProtectionResponse => ({
  allowed: false,
  code,
  message,
  warnings: [],
})

describe('requests without a protected object', () => {
  test('connecting is allowed', () => {
    assert.deepEqual(ask({ operation: 'CONNECT' }), allowed('operation CONNECT is allowed'))
  })

  test('an unknown operation is an error', () => {
    assert.deepEqual(ask({ operation: 'PATCH' }), denied(500, 'unsupported operation: operation PATCH'))
  })

  test('a kind that is not managed is allowed with a warning', () => {
    const kind = { group: 'apps', version: 'v1', kind: 'Deployment' }
    assert.deepEqual(
      ask({ kind }),
      allowed(
        'admission allowed, objects of kind Deployment are not protected',
        'apps/v1 Deployment is not a kind that the operator manages, it is not protected',
      ),
    )
  })

  test('an object that cannot be decoded is rejected: the new one on create, the old one otherwise', () => {
    const text = 'failed to decode request: the request contains no object'
    assert.deepEqual(ask({ operation: 'CREATE', object: undefined }), denied(400, text))
    assert.deepEqual(ask({ operation: 'UPDATE', oldObject: null }), denied(400, text))
    assert.deepEqual(ask({ operation: 'DELETE', oldObject: 3 }), denied(400, text))
    assert.deepEqual(
      ask({ oldObject: { metadata: { labels: 3 } } }),
      denied(400, 'failed to decode request: metadata.labels: must be an object, not an integer'),
    )
  })
})

describe('the PodCliqueSet that an object belongs to', () => {
  const undetermined = 'admission allowed, no PodCliqueSet could be determined for resource: work/demo-0-web'

  test('is found by a label', () => {
    assert.equal(ask({}).allowed, false)
    const object = managed(undefined)
    assert.deepEqual(
      ask({ object, oldObject: object }),
      allowed(
        undetermined,
        'missing required label app.kubernetes.io/part-of on resource work/demo-0-web, could not determine parent PodCliqueSet',
      ),
    )
  })

  test('is found by the controlling owner reference before the label', () => {
    const owner = {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodCliqueSet',
      name: 'demo',
      uid: 'u',
      controller: true,
    }
    const oldObject = managed('open', { ownerReferences: [owner] })
    assert.equal(ask({ oldObject, object: oldObject }).allowed, false)
    const other = managed('open', { ownerReferences: [{ ...owner, kind: 'PodCliqueScalingGroup' }] })
    assert.equal(ask({ oldObject: other, object: other }).allowed, true)
  })

  test('may be deleted already', () => {
    assert.deepEqual(
      ask({}, 'gone'),
      allowed(undetermined, 'parent PodCliqueSet gone not found for resource: work/demo-0-web'),
    )
  })

  test('may be impossible to read', () => {
    assert.deepEqual(ask({}, 'broken'), denied(500, 'timeout'))
  })

  test('may disable the protection, with exactly "true"', () => {
    assert.deepEqual(
      ask({}, 'open'),
      allowed('admission allowed, resource protection is disabled for PodCliqueSet: work/open'),
    )
    assert.equal(ask({}, 'nearly').allowed, false)
  })
})

describe('a protected object', () => {
  test('is a pod, which every user may delete', () => {
    assert.deepEqual(
      ask({ operation: 'DELETE', kind: pod }),
      allowed('admission allowed, deletion of resource: Pod is allowed for all users having sufficient RBAC'),
    )
    assert.equal(ask({ operation: 'UPDATE', kind: pod }).allowed, false)
  })

  const subjects = {
    CREATE: 'creation/updation of resource: work/demo-0-web',
    UPDATE: 'creation/updation of resource: work/demo-0-web',
    DELETE: 'deletion of resource: work/demo-0-web',
  }
  for (const [operation, subject] of Object.entries(subjects)) {
    test(`${operation}: by the operator`, () => {
      assert.deepEqual(
        ask({ operation, userName: operator }),
        allowed(`admission allowed, ${subject} is initiated by the grove reconciler service account`),
      )
    })

    test(`${operation}: by an exempt user`, () => {
      assert.deepEqual(
        ask({ operation, userName: collector }),
        allowed(`admission allowed, ${subject} is initiated by exempt serviceaccount: ${collector}`),
      )
    })

    test(`${operation}: by no other user, and names must match exactly`, () => {
      for (const userName of ['alice', '', operator.toUpperCase(), `${operator} `]) {
        assert.deepEqual(
          ask({ operation, userName }),
          denied(403, `admission denied, ${subject} is not allowed`),
        )
      }
    })
  }

  test('is any of the kinds that the operator creates', () => {
    for (const [group, version, kind] of [
      ['', 'v1', 'Secret'],
      ['', 'v1', 'Service'],
      ['', 'v1', 'ServiceAccount'],
      ['rbac.authorization.k8s.io', 'v1', 'Role'],
      ['rbac.authorization.k8s.io', 'v1', 'RoleBinding'],
      ['autoscaling', 'v2', 'HorizontalPodAutoscaler'],
      ['grove.io', 'v1alpha1', 'PodCliqueScalingGroup'],
      ['scheduler.grove.io', 'v1alpha1', 'PodGang'],
      ['resource.k8s.io', 'v1', 'ResourceClaim'],
      ['resource.nvidia.com', 'v1beta1', 'ComputeDomain'],
    ] as const) {
      assert.equal(ask({ kind: { group, version, kind } }).allowed, false, kind)
    }
  })

  test('keeps the labels that protect it, also against exempt users', () => {
    for (const [key, object] of [
      ['app.kubernetes.io/part-of', managed('open')],
      ['app.kubernetes.io/managed-by', { metadata: { labels: { 'app.kubernetes.io/part-of': 'demo' } } }],
      ['app.kubernetes.io/managed-by', { metadata: {} }],
    ] as const) {
      assert.deepEqual(
        ask({ userName: collector, object }),
        denied(403, `admission denied, label ${key} of resource: work/demo-0-web must not be changed`),
      )
    }
    assert.equal(ask({ userName: operator, object: { metadata: {} } }).allowed, true)
  })
})
