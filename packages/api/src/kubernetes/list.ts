// SPDX-License-Identifier: Apache-2.0

import type { ListMeta } from './meta-v1.generated.ts'

/** What a list request answers. API servers leave apiVersion and kind out of the items of built-in kinds. */
export interface List<Item> {
  apiVersion: string
  kind: string
  metadata: ListMeta
  items: Item[]
}
