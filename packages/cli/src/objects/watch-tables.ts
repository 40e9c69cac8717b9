// SPDX-License-Identifier: Apache-2.0

import { type Client, isKubeError } from '@grove/kube'
import { printLines } from '../print.ts'
import type { Query } from './get.ts'
import { type Table, type TablePrinter, tableAccept } from './table.ts'

interface WatchTablesOptions {
  readonly selector?: string
  readonly fieldSelector?: string
  readonly resourceVersion: string
}

/** Prints a row for each change, until somebody ends the command. A watch that the server ends is taken up again. */
export async function watchTables(
  client: Client,
  [query]: readonly Query[],
  { selector, fieldSelector, resourceVersion }: WatchTablesOptions,
  printer: TablePrinter,
): Promise<void> {
  if (!query) return
  const { resource, namespace, name } = query
  let from = resourceVersion
  for (;;)
    try {
      await client.watch(
        resource,
        {
          namespace,
          labelSelector: selector,
          fieldSelector: name === undefined ? fieldSelector : `metadata.name=${name}`,
          resourceVersion: from,
          accept: tableAccept,
        },
        event => {
          if (event.type === 'BOOKMARK') {
            from = event.resourceVersion || from
            return
          }
          // The client does not know that tables were asked for.
          const table = event.object as unknown as Table
          from = table.rows?.[0]?.object?.metadata?.resourceVersion ?? from
          printLines(printer.lines(table))
        },
      )
    } catch (error) {
      // A connection that broke is made again; what the server says is told.
      if (!isKubeError(error, 'Timeout')) throw error
    }
}
