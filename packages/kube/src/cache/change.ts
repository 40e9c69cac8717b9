// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, Stored } from '../client/index.ts'

/** The source of a change: a list, a watch event, or the response to a write of this process. */
export type ChangeSource = 'list' | 'watch' | 'write'

/** One step from the former content of the cache to the new one. `old` of each change is `new` of the one before. */
export type Change<T extends KubeObject> =
  | { readonly type: 'add'; readonly old: undefined; readonly new: Stored<T>; readonly source: ChangeSource }
  | {
      readonly type: 'update'
      readonly old: Stored<T>
      readonly new: Stored<T>
      readonly source: ChangeSource
    }
  | {
      readonly type: 'delete'
      readonly old: Stored<T>
      readonly new: undefined
      readonly source: ChangeSource
    }

export type ChangeHandler<T extends KubeObject> = (change: Change<T>) => void
