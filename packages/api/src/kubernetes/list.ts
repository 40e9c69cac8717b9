// SPDX-License-Identifier: Apache-2.0

import type { ListMeta } from './meta-v1.generated.ts'

/** The response of a list request. API servers omit apiVersion and kind of items of built-in kinds. */
export interface List<Item> {
  apiVersion: string
  kind: string
  metadata: ListMeta
  items: Item[]
}
