// SPDX-License-Identifier: Apache-2.0

// Prints a live set once, or after every change, as text or as JSON.
import type { SetObjects } from '@grove/inspect'
import { type ClusterOptions, type LiveCluster, withCluster } from '../clusters/live-cluster.ts'
import { onlySet, readSet } from '../clusters/set-objects.ts'
import { jsonOf, printJson, printJsonLine, printLines } from '../terminal/print.ts'
import { columnsOf, terminal } from '../terminal/terminal.ts'
import { wrappedNotes } from '../terminal/wrap.ts'
import { followSet } from './followed-set.ts'
import { LiveView } from './live-view.ts'
import type { Picture, TreeOptions } from './set-tree.ts'

export interface SetView {
  picture(objects: SetObjects, options: TreeOptions): Picture
  document(objects: SetObjects): object
}

export interface ShowOptions extends ClusterOptions {
  readonly watch?: boolean
  readonly output: string
}

/** Redraw interval on a terminal, where ages change. */
const agesEveryMs = 1_000

/** Returns the last snapshot. Returns undefined if the set was deleted during a watch, which ends the watch. */
export function showSet(
  requested: string | undefined,
  options: ShowOptions,
  view: SetView,
): Promise<SetObjects | undefined> {
  return withCluster(options, async cluster => {
    const name = requested ?? (await onlySet(cluster))
    const objects = await readSet(cluster, name)
    if (options.watch) return watchSet(cluster, name, options.output, view)
    if (options.output === 'json') printJson(view.document(objects))
    else {
      const columns = columnsOf(terminal())
      const { lines, notes } = view.picture(objects, { now: Date.now(), columns })
      printLines([...lines, ...wrappedNotes(notes, columns)])
    }
    return objects
  })
}

async function watchSet(
  { client, namespace }: LiveCluster,
  name: string,
  output: string,
  view: SetView,
): Promise<undefined> {
  const { stdout } = terminal()
  const isTTY = stdout.isTTY ?? false
  const live = new LiveView(stdout)
  const isText = output !== 'json'
  let printed = ''
  // On other outputs a changed age alone is not printed.
  const pace = isText && isTTY ? { atLeastEveryMs: agesEveryMs } : {}
  for await (const seen of followSet(client, { name, namespace }, pace)) {
    if (!seen) {
      if (isText) live.say([`PodCliqueSet ${name} was deleted`])
      return undefined
    }
    if (isText) {
      const columns = columnsOf(terminal())
      const { lines, notes } = view.picture(seen, isTTY ? { now: Date.now(), columns } : {})
      live.show(lines, notes)
    } else {
      const text = jsonOf(view.document(seen))
      if (text !== printed) printJsonLine(text)
      printed = text
    }
  }
  return undefined
}
