// SPDX-License-Identifier: Apache-2.0

import type { ClusterOptions } from '../clusters/live-cluster.ts'
import { setTree } from '../tree/set-model.ts'
import { treeLines } from '../tree/set-tree.ts'
import { type SetView, showSet } from '../tree/show-set.ts'

export interface TreeOptions extends ClusterOptions {
  readonly watch?: boolean
  readonly output: string
}

const view: SetView = { lines: treeLines, value: setTree }

export async function tree(name: string | undefined, options: TreeOptions): Promise<void> {
  await showSet(name, options, view)
}
