// SPDX-License-Identifier: Apache-2.0

import { label } from '../labels.ts'

export interface ScaledClique {
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string | undefined>>
}

/**
 * The warning about a PodClique that is scaled although it is a member of a scaling group. Undefined for other cliques.
 * The operator never changes the replicas of an existing clique, so that only users and autoscalers get it.
 */
export function memberScalingWarning({ namespace, name, labels }: ScaledClique): string | undefined {
  const group = labels[label.scalingGroup]
  if (!group) return undefined
  return (
    `PodClique ${name} is a member of PodCliqueScalingGroup ${group}. Its group replica then has another size than the ` +
    'other replicas, and its old size again when it is recreated; scale the group: ' +
    `kubectl -n ${namespace} scale pcsg/${group} --replicas=COUNT`
  )
}
