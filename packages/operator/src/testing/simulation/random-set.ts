// SPDX-License-Identifier: Apache-2.0

import type { StoredSet } from '../../layout/stored.ts'
import { clique, group, sampleSet } from '../sample-set.ts'
import type { Random } from './random.ts'
import { setName } from './simulation.ts'

/** A small set: a standalone clique, a scaling group, or both. */
export function randomSet(random: Random, terminationDelay: string): StoredSet {
  const shape = () => {
    const replicas = 1 + random.below(4)
    return { replicas, minAvailable: 1 + random.below(replicas) }
  }
  const members = random.chance(50) ? ['lead', 'work'] : ['work']
  const groupReplicas = 1 + random.below(3)
  const withGroup = random.chance(70)
  return sampleSet({
    name: setName,
    replicas: 1 + random.below(3),
    cliques: [
      ...(random.chance(80) || !withGroup ? [clique('web', shape())] : []),
      ...(withGroup ? members.map(name => clique(name, { replicas: 1 + random.below(2) })) : []),
    ],
    ...(withGroup && { groups: [group('g', members, groupReplicas, 1 + random.below(groupReplicas))] }),
    template: { terminationDelay },
  })
}
