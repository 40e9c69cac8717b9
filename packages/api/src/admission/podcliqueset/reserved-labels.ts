// SPDX-License-Identifier: Apache-2.0

import { reservedLabels } from '../../labels.ts'
import type { PodCliqueSet } from '../../types/index.ts'
import { path } from './paths.ts'

/** Warns about labels of clique templates that the operator ignores. They are accepted for compatibility. */
export function reservedLabelWarnings(set: PodCliqueSet): string[] {
  return set.spec.template.cliques.flatMap(({ labels = {} }, index) =>
    [...reservedLabels]
      .filter(key => Object.hasOwn(labels, key))
      .map(key => `${path.clique(index)}.labels[${key}] is ignored: the operator sets this label itself`),
  )
}
