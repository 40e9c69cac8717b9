// SPDX-License-Identifier: Apache-2.0

import { type ClusterOptions, withCluster } from '../live-cluster.ts'
import { printJson, printLines } from '../print.ts'
import { readSet } from '../set-objects.ts'
import { terminal } from '../terminal.ts'
import { LiveView } from '../tree/live-view.ts'
import { coloured, plain, treeLines } from '../tree/set-tree.ts'

export interface TreeOptions extends ClusterOptions {
  readonly watch?: boolean
  readonly output: string
}

/** How often a watched tree is looked at again. */
const lookEveryMs = 1_000

export async function tree(name: string, options: TreeOptions): Promise<void> {
  const paint = terminal().stdout.isTTY && !process.env.NO_COLOR ? coloured : plain
  return withCluster(options, async cluster => {
    if (options.output === 'json') return printJson(await readSet(cluster, name))
    if (!options.watch) return printLines(treeLines(await readSet(cluster, name), paint))
    const view = new LiveView(terminal().stdout)
    for (;;) {
      view.show(treeLines(await readSet(cluster, name), paint))
      await new Promise(done => setTimeout(done, lookEveryMs))
    }
  })
}
