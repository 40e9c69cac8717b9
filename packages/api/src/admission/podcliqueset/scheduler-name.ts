// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { CliqueTemplate } from '../../types/index.ts'
import { path } from './paths.ts'

/** The scheduler of the pods of a clique: the one it names, else the default profile. */
function effectiveSchedulerName(clique: CliqueTemplate, defaultScheduler: string): string {
  return clique.spec.podSpec.schedulerName || defaultScheduler
}

/** One scheduler schedules a whole gang, and it must be enabled in the operator configuration. */
export function validateSchedulerNames(
  cliques: readonly CliqueTemplate[],
  enabled: ReadonlySet<string>,
  defaultScheduler: string,
): FieldError[] {
  const field = `${path.cliques}.spec.podSpec.schedulerName`
  const names = [...new Set(cliques.map(clique => effectiveSchedulerName(clique, defaultScheduler)))]
  const errors: FieldError[] = []
  if (names.length > 1) {
    errors.push(
      fieldError.invalid(field, names.join(', '), 'the schedulerName for all pods have to be the same'),
    )
  }
  const [first] = names
  if (first !== undefined && !enabled.has(first)) {
    errors.push(
      fieldError.invalid(
        field,
        first,
        'schedulerName must be an enabled scheduler backend; this scheduler is not enabled in OperatorConfiguration',
      ),
    )
  }
  return errors
}
