// SPDX-License-Identifier: Apache-2.0

import { treeDocument } from '@grove/inspect'
import type { ClusterOptions } from '../clusters/live-cluster.ts'
import { treePicture } from '../tree/set-tree.ts'
import { type SetView, showSet } from '../tree/show-set.ts'

export interface TreeOptions extends ClusterOptions {
  readonly watch?: boolean
  readonly output: string
}

const view: SetView = { picture: treePicture, document: treeDocument }

export async function tree(name: string | undefined, options: TreeOptions): Promise<void> {
  await showSet(name, options, view)
}
