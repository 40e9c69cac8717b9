// SPDX-License-Identifier: Apache-2.0

// Prints columns that the user chooses: `-o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName`.
import { CommandError } from '../command-error.ts'
import { escaped } from '../terminal/line.ts'
import { type Path, parseRelaxedPath } from './json-path.ts'
import { evaluatePath, goText } from './json-path-values.ts'
import { ColumnWidths } from './table.ts'

export interface CustomColumn {
  readonly header: string
  readonly path: Path
}

export function parseColumns(columns: string): CustomColumn[] {
  return columns.split(',').map(column => {
    const colon = column.indexOf(':')
    if (colon < 0)
      throw new CommandError(
        `unexpected custom-columns spec: ${column}, expected <header>:<json-path-expr>, such as NAME:.metadata.name`,
      )
    return { header: column.slice(0, colon), ...parseRelaxedPath(column.slice(colon + 1)) }
  })
}

/** The content of a file: a line of headers and a line of paths, each separated by spaces. */
export function parseColumnsFile(text: string): CustomColumn[] {
  const [headers = [], paths = []] = text.split('\n', 2).map(line => line.split(/\s+/).filter(Boolean))
  if (headers.length === 0 || headers.length !== paths.length)
    throw new CommandError(
      `a custom-columns-file has a line of headers and a line with as many paths; this one has ${headers.length} headers and ${paths.length} paths`,
    )
  return headers.map((header, at) => ({ header, ...parseRelaxedPath(paths[at]!) }))
}

export function customColumnLines(
  columns: readonly CustomColumn[],
  objects: readonly unknown[],
  hasHeaders: boolean,
): string[] {
  const rows = objects.map(object =>
    columns.map(({ path }) => {
      const values = evaluatePath(path, [object])
      return values.length === 0 ? '<none>' : values.map(value => escaped(goText(value))).join(',')
    }),
  )
  const head = hasHeaders ? [columns.map(({ header }) => header)] : []
  return new ColumnWidths().lines([...head, ...rows])
}
