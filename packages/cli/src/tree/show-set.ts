// SPDX-License-Identifier: Apache-2.0

// Shows a live set once, or again and again as it changes; as text or as JSON.
import { type ClusterOptions, withCluster } from '../live-cluster.ts'
import { printJson, printLines } from '../print.ts'
import { readSet } from '../set-objects.ts'
import { terminal } from '../terminal.ts'
import { LiveView } from './live-view.ts'
import type { SetObjects } from './set-model.ts'
import { paintFor, type TreeOptions } from './set-tree.ts'

export interface SetView {
  lines(objects: SetObjects, options: TreeOptions): string[]
  value(objects: SetObjects): unknown
}

export interface ShowOptions extends ClusterOptions {
  readonly watch?: boolean
  readonly output: string
}

/** How often a watched set is looked at again. */
const lookEveryMs = 1_000

/** What was seen last. Never returns while it watches. */
export function showSet(name: string, options: ShowOptions, view: SetView): Promise<SetObjects> {
  return withCluster(options, async cluster => {
    const objects = await readSet(cluster, name)
    const { stdout } = terminal()
    const paint = paintFor(stdout)
    // Ages alone are no news to those who read every line.
    const lines = (of: SetObjects, ages: boolean) =>
      view.lines(of, { paint, ...(ages && { now: Date.now() }) })
    if (!options.watch) {
      if (options.output === 'json') printJson(view.value(objects))
      else printLines(lines(objects, true))
      return objects
    }
    const live = new LiveView(stdout)
    let told = ''
    for (let seen = objects; ; seen = await readSet(cluster, name)) {
      const text = options.output === 'json' ? JSON.stringify(view.value(seen)) : ''
      if (text === '') live.show(lines(seen, stdout.isTTY ?? false))
      else if (text !== told) printLines([text])
      told = text
      await new Promise(done => setTimeout(done, lookEveryMs))
    }
  })
}
