// SPDX-License-Identifier: Apache-2.0

// Reads struct declarations from the Go sources of the Kubernetes API. The OpenAPI document does not say
// which fields are pointers and which are omitted when empty. Both determine the JSON of an object after a
// round trip through the real API server. The sources have one field per line in a regular form, so no Go
// parser is needed.

/** One field of a Go struct that is part of the JSON encoding. */
export interface GoField {
  /** Empty for an embedded (`,inline`) struct. */
  readonly json: string
  readonly goName: string
  readonly goType: string
  readonly omitEmpty: boolean
  readonly omitZero: boolean
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly listType?: string
  readonly listMapKeys: readonly string[]
  readonly structType?: string
  readonly optional: boolean
  /** The protobuf field number; undefined for types without a protobuf encoding. */
  readonly protobuf?: number
}

export type GoType =
  | {
      readonly kind: 'struct'
      readonly name: string
      readonly fields: readonly GoField[]
    }
  | { readonly kind: 'alias'; readonly name: string; readonly target: string }

const fieldLine = /^\t(?:(\w+)\s+)?([*\w.[\]]+)\s+`([^`]*)`/
const typeLine = /^type (\w+) (.+)$/

export function parseGoTypes(source: string): GoType[] {
  const types: GoType[] = []
  let comment: string[] = []
  const lines = source.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    if (line.startsWith('//')) {
      comment.push(line.replace(/^\/\/ ?/, ''))
      continue
    }
    const declared = typeLine.exec(line)
    if (declared?.[2] === 'struct {') {
      const end = lines.indexOf('}', i)
      types.push({
        kind: 'struct',
        name: declared[1]!,
        fields: parseFields(lines.slice(i + 1, end)),
      })
      i = end
    } else if (declared && !declared[2]!.endsWith('{')) {
      types.push({
        kind: 'alias',
        name: declared[1]!,
        target: declared[2]!.replace(/^= /, '').split(' ')[0]!,
      })
    }
    comment = []
  }
  return types
}

function parseFields(lines: readonly string[]): GoField[] {
  const fields: GoField[] = []
  let comment: string[] = []
  for (const line of lines) {
    const trimmed = line.trim()
    if (trimmed.startsWith('//')) {
      comment.push(trimmed.replace(/^\/\/ ?/, ''))
      continue
    }
    if (trimmed === '') {
      comment = []
      continue
    }
    const match = fieldLine.exec(line)
    if (match) {
      const tag = match[3]!
      const [json = '', ...flags] = (/json:"([^"]*)"/.exec(tag)?.[1] ?? '').split(',')
      if (json !== '-')
        fields.push({
          json,
          goName: match[1] ?? match[2]!.split('.').pop()!,
          goType: match[2]!,
          omitEmpty: flags.includes('omitempty'),
          omitZero: flags.includes('omitzero'),
          patchStrategy: /patchStrategy:"([^"]*)"/.exec(tag)?.[1],
          patchMergeKey: /patchMergeKey:"([^"]*)"/.exec(tag)?.[1],
          listType: marker(comment, 'listType'),
          listMapKeys: comment.flatMap(text => /^\+listMapKey=(.+)$/.exec(text.trim())?.[1] ?? []),
          structType: marker(comment, 'structType') ?? marker(comment, 'mapType'),
          optional: comment.some(text => text.trim() === '+optional'),
          protobuf: Number(/protobuf:"\w+,(\d+),/.exec(tag)?.[1]) || undefined,
        })
    }
    comment = []
  }
  return fields
}

function marker(comment: readonly string[], name: string): string | undefined {
  for (const text of comment) {
    const trimmed = text.trim()
    if (trimmed.startsWith(`+${name}=`)) return trimmed.slice(name.length + 2)
  }
  return undefined
}
