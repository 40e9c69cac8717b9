// SPDX-License-Identifier: Apache-2.0

import type { Node } from '@grove/api'

/** The part of a node that placement reads, as JSON. */
export function nodeText({ apiVersion, kind, metadata: { name, labels }, spec, status }: Node): string {
  const { taints } = spec ?? {}
  const { allocatable } = status ?? {}
  return JSON.stringify({
    apiVersion,
    kind,
    metadata: { name, labels },
    spec: { taints },
    status: { allocatable },
  })
}
