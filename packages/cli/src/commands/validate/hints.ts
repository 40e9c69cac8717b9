// SPDX-License-Identifier: Apache-2.0

import type { CliqueTemplate, PodCliqueSet } from '@grove/api'
import { claimConsumerHints, claimTemplateHints, type Hint, type TemplateObject } from './claim-hints.ts'

/**
 * What admission accepts without a warning and yet does not do what its author seems to expect. `claimTemplates` are the
 * ResourceClaimTemplates of the given files.
 */
export function hintsFor(set: PodCliqueSet, claimTemplates: readonly TemplateObject[]): Hint[] {
  const { cliques, cliqueStartupType } = set.spec.template
  return [
    ...cliques.flatMap((clique, index) => [
      ...(cliqueStartupType === 'CliqueStartupTypeExplicit' ? [] : unheardOrder(clique, index)),
      ...missingImages(clique, index),
    ]),
    ...claimTemplateHints(set, claimTemplates),
    ...claimConsumerHints(set),
  ]
}

function unheardOrder({ spec }: CliqueTemplate, index: number): Hint[] {
  if (!spec.startsAfter?.length) return []
  const field = `spec.template.cliques[${index}].spec.startsAfter`
  return [{ field, text: 'has no effect unless cliqueStartupType is CliqueStartupTypeExplicit' }]
}

/** Admission leaves it alone because a webhook for pods may fill images in. */
function missingImages({ spec: { podSpec } }: CliqueTemplate, index: number): Hint[] {
  return (['containers', 'initContainers'] as const).flatMap(list =>
    (podSpec[list] ?? []).flatMap(({ image }, at) => {
      const field = `spec.template.cliques[${index}].spec.podSpec.${list}[${at}].image`
      return image ? [] : [{ field, text: 'without one Kubernetes refuses the pods' }]
    }),
  )
}
