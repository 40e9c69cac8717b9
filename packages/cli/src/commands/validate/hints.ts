// SPDX-License-Identifier: Apache-2.0

import type { CliqueTemplate, PodCliqueSet } from '@grove/api'
import { claimConsumerHints, claimTemplateHints, type Hint, type TemplateObject } from './claim-hints.ts'

/**
 * Finds settings that admission accepts without a warning, but that have no effect. `claimTemplates` are the
 * ResourceClaimTemplates in the given files.
 */
export function hintsFor(set: PodCliqueSet, claimTemplates: readonly TemplateObject[]): Hint[] {
  const { cliques } = set.spec.template
  return [
    ...cliques.flatMap(missingImages),
    ...claimTemplateHints(set, claimTemplates),
    ...claimConsumerHints(set),
  ]
}

/** Admission accepts a missing image, because another webhook may set it on the pods. */
function missingImages({ spec: { podSpec } }: CliqueTemplate, index: number): Hint[] {
  return (['containers', 'initContainers'] as const).flatMap(list =>
    (podSpec[list] ?? []).flatMap(({ image }, at) => {
      const field = `spec.template.cliques[${index}].spec.podSpec.${list}[${at}].image`
      return image ? [] : [{ field, text: 'without one Kubernetes rejects the pods' }]
    }),
  )
}
