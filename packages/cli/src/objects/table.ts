// SPDX-License-Identifier: Apache-2.0

// Prints the tables of the server in columns.

import { escaped } from '../terminal/line.ts'

export interface Table {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly columnDefinitions?: readonly Column[] | null
  readonly rows?: readonly Row[] | null
}

interface Column {
  readonly name: string
  readonly priority?: number
}

export interface Row {
  readonly cells: readonly unknown[]
  /** Only the metadata, unless the request asks for the whole object. */
  readonly object?: { readonly metadata?: RowMetadata } | null
}

interface RowMetadata {
  readonly name?: string
  readonly namespace?: string
  readonly resourceVersion?: string
  readonly labels?: Readonly<Record<string, string>>
}

export interface TableOptions {
  /** Print the columns with a priority above 0. */
  readonly wide?: boolean
  readonly namespaces?: boolean
  readonly labels?: boolean
  readonly headers?: boolean
  /** Printed before each name, with a slash: the resource. */
  readonly prefix?: string
}

export const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'

/** Space between columns, and their minimum width, as in kubectl. */
const gap = 3
const leastWidth = 6

/** Pads cells to columns. The columns keep their widths from one call to the next. */
export class ColumnWidths {
  readonly #widths: number[] = []

  lines(rows: readonly (readonly string[])[]): string[] {
    for (const cells of rows)
      cells.forEach((cell, at) => {
        this.#widths[at] = Math.max(this.#widths[at] ?? leastWidth, cell.length + gap)
      })
    return rows.map(cells =>
      cells.map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(this.#widths[at] ?? 0))).join(''),
    )
  }
}

/** Prints tables of one kind, one after the other. Columns keep their widths and the header is printed once. */
export class TablePrinter {
  readonly #options: TableOptions
  readonly #widths = new ColumnWidths()
  #columns: readonly Column[] = []
  #isNamed = false

  constructor(options: TableOptions) {
    this.#options = options
  }

  lines({ columnDefinitions, rows }: Table): string[] {
    if (columnDefinitions?.length) this.#columns = columnDefinitions
    const body = (rows ?? []).map(row => this.#cells(row))
    if (body.length === 0) return []
    const head = this.#isNamed || this.#options.headers === false ? [] : [this.#heading()]
    this.#isNamed = true
    return this.#widths.lines([...head, ...body])
  }

  #heading(): string[] {
    return [
      ...(this.#options.namespaces ? ['NAMESPACE'] : []),
      ...this.#shown().map(([{ name }]) => name.toUpperCase()),
      ...(this.#options.labels ? ['LABELS'] : []),
    ]
  }

  #cells({ cells, object }: Row): string[] {
    const { prefix } = this.#options
    const labels = Object.entries(object?.metadata?.labels ?? {}).map(([key, value]) => `${key}=${value}`)
    return [
      ...(this.#options.namespaces ? [object?.metadata?.namespace ?? ''] : []),
      ...this.#shown().map(([column, at]) => {
        const text = cellText(cells[at])
        return prefix !== undefined && column.name.toLowerCase() === 'name' ? `${prefix}/${text}` : text
      }),
      ...(this.#options.labels ? [labels.sort().join(',') || '<none>'] : []),
    ]
  }

  #shown(): [Column, number][] {
    return this.#columns
      .map((column, at): [Column, number] => [column, at])
      .filter(([{ priority }]) => this.#options.wide || !priority)
  }
}

/** Escaped here, because the column widths depend on it. */
function cellText(value: unknown): string {
  return value === null || value === undefined ? '' : escaped(String(value))
}
