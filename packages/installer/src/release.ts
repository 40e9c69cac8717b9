// SPDX-License-Identifier: Apache-2.0

import { type CustomResourceDefinition, generatorAnnotation } from '@grove/api'

/** The version of Grove that wrote a CRD, as three numbers; undefined for CRDs of other origin. */
function releaseOf({ metadata }: Pick<CustomResourceDefinition, 'metadata'>): number[] | undefined {
  const found = /^grove (\d+)\.(\d+)\.(\d+)/.exec(metadata.annotations?.[generatorAnnotation] ?? '')
  return found?.slice(1).map(Number)
}

/** Reports whether the installed CRD is known to be older than the wanted one. */
export function isUpgrade(
  installed: Pick<CustomResourceDefinition, 'metadata'>,
  wanted: Pick<CustomResourceDefinition, 'metadata'>,
): boolean {
  const before = releaseOf(installed)
  const after = releaseOf(wanted)
  if (!before || !after) return false
  const at = before.findIndex((number, index) => number !== after[index])
  return at >= 0 && before[at]! < after[at]!
}
