// SPDX-License-Identifier: Apache-2.0

import type { PodClique, PodCliqueScalingGroup } from '@grove/api'
import type { Stored } from '@grove/kube'
import type { StoredSet } from './stored.ts'
import type { World } from './world.ts'

export interface OwnChildren {
  readonly groups: readonly Stored<PodCliqueScalingGroup>[]
  /** Standalone cliques and members of the groups. */
  readonly cliques: readonly Stored<PodClique>[]
}

/** The groups and cliques that the set controls, by UID; cliques also through a group. Includes terminating objects. */
export function ownChildren(
  { metadata: { uid } }: StoredSet,
  world: Pick<World, 'groups' | 'cliques'>,
): OwnChildren {
  const groups = world.groups.byIndex('controller', uid)
  const owners = [uid, ...groups.map(({ metadata }) => metadata.uid)]
  return { groups, cliques: owners.flatMap(owner => world.cliques.byIndex('controller', owner)) }
}
