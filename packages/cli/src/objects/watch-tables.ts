// SPDX-License-Identifier: Apache-2.0

import { type Client, isKubeError } from '@grove/kube/client'
import { printLines } from '../terminal/print.ts'
import type { Query } from './get.ts'
import { type Table, type TablePrinter, tableAccept } from './table.ts'

interface WatchTablesOptions {
  readonly selector?: string
  readonly fieldSelector?: string
  readonly resourceVersion: string
}

/** Prints a row for each change until the user stops the command. Restarts a watch that the server ends. */
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
          // The client does not know that the request asks for tables.
          const table = event.object as unknown as Table
          from = table.rows?.[0]?.object?.metadata?.resourceVersion ?? from
          printLines(printer.lines(table))
        },
      )
    } catch (error) {
      // Reconnect after a timeout. Other errors of the server are reported.
      if (!isKubeError(error, 'Timeout')) throw error
    }
}
