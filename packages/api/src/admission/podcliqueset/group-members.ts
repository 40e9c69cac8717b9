// SPDX-License-Identifier: Apache-2.0

import type { PodCliqueSetTemplate, ScalingGroupTemplate } from '../../types/index.ts'

/** The scaling group of every member clique. If several groups list a clique, the first counts. */
export function groupsOfMembers({
  podCliqueScalingGroups: groups = [],
}: PodCliqueSetTemplate): Map<string, ScalingGroupTemplate> {
  const found = new Map<string, ScalingGroupTemplate>()
  for (const group of groups) {
    for (const member of group.cliqueNames) if (!found.has(member)) found.set(member, group)
  }
  return found
}
