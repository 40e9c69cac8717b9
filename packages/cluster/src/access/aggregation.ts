// SPDX-License-Identifier: Apache-2.0

import { equalJson } from '@grove/apimachinery'
import type { ObjectOf } from '../object.ts'
import { storages } from '../registry/storages.ts'
import { selectorMatches } from '../registry/validation/workload.ts'
import type { RbacClusterRole, RbacPolicyRule } from '../schema/types.generated.ts'
import type { Store } from '../store/index.ts'

type ClusterRole = ObjectOf<RbacClusterRole>

/**
 * An aggregated role may select other aggregated roles. A chain converges in as many rounds as it is long.
 */
const maximumRounds = 10

/** Fills the rules of aggregated cluster roles, now and on every change of a cluster role. */
export function aggregateClusterRoles(store: Store): () => void {
  let due = false
  aggregate(store)
  return store.observe(({ resource }) => {
    if (resource !== storages.clusterRoles || due) return
    due = true
    // Runs after the commit, so that other observers see this change first.
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

/** Returns true if the role changed. */
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
