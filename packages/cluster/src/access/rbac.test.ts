// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { KubeObject } from '../object.ts'
import { storages } from '../registry/storages.ts'
import type { RbacPolicyRule, RbacRoleRef, RbacSubject } from '../schema/types.generated.ts'
import type { AccessAttributes } from '../server/authorization.ts'
import { MemoryStore } from '../store/index.ts'
import { missingRules, ruleAllows } from './policy-rules.ts'
import { RbacAuthorizer } from './rbac.ts'

interface Binding {
  readonly namespace: string
  readonly name: string
  readonly roleRef: RbacRoleRef
  readonly subjects: RbacSubject[]
}

interface Role {
  readonly namespace: string
  readonly name: string
  readonly rules: RbacPolicyRule[]
}

const pick = <T>(...values: T[]) => fc.constantFrom(...values)
const some = <T>(...values: T[]) => fc.uniqueArray(pick(...values), { minLength: 1, maxLength: 3 })
const namespace = pick('', 'a', 'b')
const roleName = pick('r', 's')

const rule: fc.Arbitrary<RbacPolicyRule> = fc.oneof(
  fc.record({
    verbs: some('get', 'list', '*'),
    apiGroups: some('', 'apps', '*'),
    resources: some('pods', 'pods/log', '*/log', '*'),
    resourceNames: fc.uniqueArray(pick('x', 'y')),
  }),
  fc.record({ verbs: some('get', '*'), nonResourceURLs: some('/metrics', '/logs/*', '*') }),
)
const role: fc.Arbitrary<Role> = fc.record({
  namespace,
  name: roleName,
  rules: fc.array(rule, { maxLength: 2 }),
})
const subject: fc.Arbitrary<RbacSubject> = fc.oneof(
  fc.record({ kind: pick('User'), name: pick('alice', 'system:serviceaccount:a:robot') }),
  fc.record({ kind: pick('Group'), name: pick('readers', 'system:authenticated') }),
  fc.record({ kind: pick('ServiceAccount'), name: pick('robot'), namespace: pick('a', 'b') }),
)
const binding: fc.Arbitrary<Binding> = fc.record({
  namespace,
  name: pick('m', 'n'),
  roleRef: fc.record({ kind: pick('Role', 'ClusterRole'), name: roleName }),
  subjects: fc.array(subject, { maxLength: 3 }),
})
const attributes: fc.Arbitrary<AccessAttributes> = fc.record({
  user: fc.record({
    name: pick('alice', 'bob', 'system:serviceaccount:a:robot', 'system:serviceaccount:b:robot'),
    groups: fc.uniqueArray(pick('readers', 'system:authenticated')),
  }),
  verb: pick('get', 'list', 'delete'),
  isResource: fc.boolean(),
  group: pick('', 'apps'),
  version: fc.constant('v1'),
  resource: pick('pods', 'nodes'),
  subresource: pick('', 'log'),
  namespace,
  name: pick('', 'x', 'z'),
  path: pick('/metrics', '/logs/a', '/other'),
})

type Step =
  | { readonly write: 'role'; readonly role: Role }
  | { readonly write: 'binding'; readonly binding: Binding }
  | { readonly write: 'remove'; readonly binding: Binding }
const step: fc.Arbitrary<Step> = fc.oneof(
  role.map(value => ({ write: 'role' as const, role: value })),
  binding.map(value => ({ write: 'binding' as const, binding: value })),
  binding.map(value => ({ write: 'remove' as const, binding: value })),
)

const keyOf = (object: { namespace: string; name: string }) =>
  object.namespace ? `${object.namespace}/${object.name}` : object.name

/** The definition without an index: evaluates every binding, subject and rule. */
class Naive {
  readonly roles = new Map<string, Role>()
  readonly bindings = new Map<string, Binding>()

  allows(wanted: AccessAttributes): boolean {
    return [...this.bindings.values()].some(
      ({ namespace: home, roleRef, subjects }) =>
        (home === '' || home === wanted.namespace) &&
        subjects.some(each => this.#is(each, wanted)) &&
        this.#rules(roleRef, home).some(each => ruleAllows(each, wanted)),
    )
  }

  #is({ kind, name, namespace: home }: RbacSubject, { user }: AccessAttributes): boolean {
    if (kind === 'Group') return user.groups.includes(name!)
    return user.name === (kind === 'User' ? name : `system:serviceaccount:${home}:${name}`)
  }

  #rules({ kind, name }: RbacRoleRef, home: string): RbacPolicyRule[] {
    const key = keyOf({ namespace: kind === 'ClusterRole' ? '' : home, name: name! })
    // A Role has a namespace, so a ClusterRoleBinding cannot refer to it.
    return kind === 'Role' && !home ? [] : (this.roles.get(key)?.rules ?? [])
  }
}

function apply(store: MemoryStore, naive: Naive, each: Step): void {
  const replace = (resource: string, key: string, object: KubeObject) =>
    store.write(resource, key, object, store.get(resource, key))
  if (each.write === 'role') {
    const { namespace: home, name, rules } = each.role
    const resource = home ? storages.roles : storages.clusterRoles
    const metadata = { name, ...(home && { namespace: home }) }
    replace(resource, keyOf(each.role), { metadata, rules: structuredClone(rules) })
    naive.roles.set(keyOf(each.role), each.role)
    return
  }
  const { namespace: home, name, roleRef, subjects } = each.binding
  const resource = home ? storages.roleBindings : storages.clusterRoleBindings
  const key = keyOf(each.binding)
  if (each.write === 'remove') {
    const stored = store.get(resource, key)
    if (stored) store.remove(resource, key, stored)
    naive.bindings.delete(key)
    return
  }
  const metadata = { name, ...(home && { namespace: home }) }
  replace(resource, key, { metadata, ...structuredClone({ roleRef, subjects }) })
  naive.bindings.set(key, each.binding)
}

describe('RBAC', () => {
  it('decides like an evaluation of every binding, subject and rule, after any changes', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 12 }),
        fc.array(attributes, { minLength: 5, maxLength: 10 }),
        (steps, asked) => {
          const store = new MemoryStore()
          const naive = new Naive()
          const half = Math.floor(steps.length / 2)
          for (const each of steps.slice(0, half)) apply(store, naive, each)
          // Half of the policy exists before the authorizer starts, half is created later.
          const rbac = new RbacAuthorizer(store)
          for (const each of steps.slice(half)) apply(store, naive, each)
          for (const wanted of asked) assert.equal(rbac.decide(wanted).allowed, naive.allows(wanted))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('reports no missing rule exactly if all wanted rules are held', () => {
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 3 }),
        fc.array(rule, { maxLength: 2 }),
        attributes,
        (held, wanted, asked) => {
          if (missingRules(held, wanted).length > 0) return
          if (wanted.some(each => ruleAllows(each, asked)))
            assert.ok(held.some(each => ruleAllows(each, asked)))
        },
      ),
    )
    fc.assert(fc.property(fc.array(rule), rules => assert.deepEqual(missingRules(rules, rules), [])))
  })
})
