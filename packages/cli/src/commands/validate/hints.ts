// SPDX-License-Identifier: Apache-2.0

import type { CliqueTemplate, PodCliqueSet } from '@grove/api'
import { describeFieldError } from '@grove/apimachinery'
import { podErrors } from '@grove/cluster/pod-errors'
import { claimConsumerHints, claimTemplateHints, type Hint, type TemplateObject } from './claim-hints.ts'

/**
 * Finds mistakes that admission accepts without a warning. `claimTemplates` are the ResourceClaimTemplates in the given
 * files.
 */
export function hintsFor(set: PodCliqueSet, claimTemplates: readonly TemplateObject[]): Hint[] {
  const { cliques } = set.spec.template
  return [
    ...cliques.flatMap(podErrorHints),
    ...claimTemplateHints(set, claimTemplates),
    ...claimConsumerHints(set),
  ]
}

/** Admission accepts them, because a webhook of the cluster may repair the pods. */
function podErrorHints({ spec: { podSpec } }: CliqueTemplate, index: number): Hint[] {
  return podErrors(podSpec, `spec.template.cliques[${index}].spec.podSpec`).map(error => ({
    field: error.field,
    text: `Kubernetes rejects the pods: ${describeFieldError(error)}`,
  }))
}
