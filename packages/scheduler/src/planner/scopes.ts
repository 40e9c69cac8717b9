// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { Partition } from '../model/partitions.ts'
import type { Gang, PackConstraint, ScopeKind } from '../types.ts'

/** A packing scope of a gang (4.5.4). */
export interface Scope {
  readonly name: string
  readonly kind: ScopeKind
  /** Indexes of the groups inside. */
  readonly groups: readonly number[]
  readonly required: { readonly key: string; readonly partition: Partition } | undefined
  readonly preferred: Preference | undefined
  readonly children: readonly Scope[]
}

/** A preferred level that is narrower than every required level around it. */
export interface Preference {
  readonly key: string
  /** Partitions from the preferred level towards broader ones, down to just above the required level. */
  readonly partitions: readonly Partition[]
}

/** Builds the tree of scopes: gang, group configs, groups. */
export function scopesOf(model: Model, gang: Gang): Scope {
  const { partitions } = model
  const build = (
    name: string,
    kind: ScopeKind,
    constraint: PackConstraint,
    groups: readonly number[],
    around: number,
    childrenOf: (required: number) => Scope[],
  ): Scope => {
    const position = gang.levels.findIndex(({ key }) => key === constraint.required)
    const narrowest = Math.max(around, position)
    return {
      name,
      kind,
      groups,
      required: constraint.required
        ? { key: constraint.required, partition: partitions.ofKey(gang.levels, constraint.required) }
        : undefined,
      preferred: preferenceOf(constraint, narrowest),
      children: childrenOf(narrowest),
    }
  }
  const preferenceOf = (
    { required, preferred }: PackConstraint,
    narrowest: number,
  ): Preference | undefined => {
    if (!preferred || preferred === required) return undefined
    const position = gang.levels.findIndex(({ key }) => key === preferred)
    if (position < 0) return { key: preferred, partitions: [partitions.ofKey(gang.levels, preferred)] }
    if (position <= narrowest) return undefined
    const levels: Partition[] = []
    for (let level = position; level > narrowest; level--) levels.push(partitions.ofLevel(gang.levels, level))
    return { key: preferred, partitions: levels }
  }
  const groupScope = (group: number, around: number): Scope => {
    const { name, constraint } = gang.groups[group]!
    return build(name, 'podGroup', constraint, [group], around, () => [])
  }
  const inConfig = new Set(gang.configs.flatMap(({ groups }) => groups))
  return build(gang.name, 'gang', gang.constraint, gang.groups.keys().toArray(), -1, around => [
    ...gang.configs.map(({ name, groups, constraint }) => {
      const members = gang.groups.flatMap((group, index) => (groups.includes(group.name) ? [index] : []))
      return build(name, 'groupConfig', constraint, members, around, inner =>
        members.map(group => groupScope(group, inner)),
      )
    }),
    ...gang.groups.flatMap((group, index) => (inConfig.has(group.name) ? [] : [groupScope(index, around)])),
  ])
}

/** The scope and all scopes inside it, outermost first. */
export function allScopes(scope: Scope): Scope[] {
  return [scope, ...scope.children.flatMap(allScopes)]
}
