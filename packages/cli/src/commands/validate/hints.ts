// SPDX-License-Identifier: Apache-2.0

import type { CliqueTemplate, PodCliqueSet } from '@grove/api'

/** What admission accepts without a word, and which yet does not do what its author seems to expect. */
export function hintsFor({ spec }: PodCliqueSet): string[] {
  const { cliques, cliqueStartupType } = spec.template
  return cliques.flatMap((clique, index) => [
    ...(cliqueStartupType === 'CliqueStartupTypeExplicit' ? [] : unheardOrder(clique, index)),
    ...missingImages(clique, index),
  ])
}

function unheardOrder({ spec }: CliqueTemplate, index: number): string[] {
  if (!spec.startsAfter?.length) return []
  const field = `spec.template.cliques[${index}].spec.startsAfter`
  return [`${field}: has no effect unless cliqueStartupType is CliqueStartupTypeExplicit`]
}

/** Admission leaves it alone because a webhook for pods may fill images in. */
function missingImages({ spec: { podSpec } }: CliqueTemplate, index: number): string[] {
  return (['containers', 'initContainers'] as const).flatMap(list =>
    (podSpec[list] ?? []).flatMap(({ image }, at) => {
      const field = `spec.template.cliques[${index}].spec.podSpec.${list}[${at}].image`
      return image ? [] : [`${field}: without one Kubernetes refuses the pods`]
    }),
  )
}
