// SPDX-License-Identifier: Apache-2.0

import { equalJson } from '@grove/apimachinery'
import type { ObjectOf } from '../object.ts'
import { storages } from '../registry/storages.ts'
import { selectorMatches } from '../registry/validation/workload.ts'
import type { RbacClusterRole, RbacPolicyRule } from '../schema/types.generated.ts'
import type { Store } from '../store/index.ts'

type ClusterRole = ObjectOf<RbacClusterRole>

/** Aggregated roles may take in others that are aggregated; a chain of them settles in as many rounds as it is long. */
const maximumRounds = 10

/** Fills the rules of cluster roles that are made of others, now and whenever a cluster role changes. */
export function aggregateClusterRoles(store: Store): () => void {
  let due = false
  aggregate(store)
  return store.observe(({ resource }) => {
    if (resource !== storages.clusterRoles || due) return
    due = true
    // Not within the commit that we are told of: others are to see that one first.
    queueMicrotask(() => {
      due = false
      aggregate(store)
    })
  })
}

function aggregate(store: Store): void {
  for (let round = 0; round < maximumRounds; round++) {
    const roles = store.list(storages.clusterRoles, { prefix: '' }).items
    const changed = roles.filter(role => fill(store, role, roles))
    if (changed.length === 0) return
  }
}

/** True when the role had to change. */
function fill(store: Store, stored: ClusterRole, all: readonly ClusterRole[]): boolean {
  const { aggregationRule, rules } = stored
  if (!aggregationRule) return false
  const wanted: RbacPolicyRule[] = []
  for (const selector of aggregationRule.clusterRoleSelectors ?? []) {
    for (const role of all) {
      if (role.metadata.name === stored.metadata.name) continue
      if (!selectorMatches(selector, role.metadata.labels ?? {})) continue
      for (const rule of role.rules ?? [])
        if (!wanted.some(known => equalJson(known, rule))) wanted.push(rule)
    }
  }
  if (equalJson(wanted, rules ?? [])) return false
  const draft = { ...stored, metadata: { ...stored.metadata }, rules: wanted }
  return store.write(storages.clusterRoles, stored.metadata.name!, draft, stored)
}
