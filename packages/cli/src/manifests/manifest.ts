// SPDX-License-Identifier: Apache-2.0

// Reads manifests: files or standard input, YAML or JSON, several documents each. Every document keeps its position, so
// that a message about a field can contain its line.
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Tags,
  type YAMLParseError,
} from 'yaml'
import { CommandError } from '../command-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { firstIndex, firstKey } from './field-path.ts'
import { itemsOf } from './manifest-lists.ts'

/** Far above any real manifest, and small enough for a parser to finish in reasonable time. */
const maxBytes = 64 * 1024 * 1024
/** Kubernetes objects have about twenty levels. The parser is recursive, so the limit prevents a stack overflow. */
const maxDepth = 512

export interface ManifestDocument {
  readonly source: string
  /** 1-based number of the document's first line in its source. */
  readonly line: number
  readonly value: unknown
  /** The position of a field such as `spec.template.cliques[2].name`, or of its nearest existing ancestor. */
  locate(field: string): Position | undefined
}

export interface Position {
  readonly line: number
  readonly column: number
}

/** Reads the documents of all files and expands lists. */
export async function readManifests(paths: readonly string[]): Promise<ManifestDocument[]> {
  const documents: ManifestDocument[] = []
  for (const path of paths) documents.push(...parseManifests(await readSource(path), nameOfSource(path)))
  return documents.flatMap(itemsOf)
}

function nameOfSource(path: string): string {
  return path === '-' ? 'standard input' : path
}

async function readSource(path: string): Promise<string> {
  let bytes: Buffer
  try {
    bytes = path === '-' ? await buffer(terminal().stdin) : await readFile(path)
  } catch (error) {
    throw new CommandError(`cannot read ${nameOfSource(path)}: ${reasonOf(error)}`)
  }
  if (bytes.length > maxBytes)
    throw new CommandError(
      `${nameOfSource(path)} is larger than ${maxBytes / 1024 / 1024} MiB; split it into several files`,
    )
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new CommandError(`${nameOfSource(path)} is not UTF-8 text`)
  }
}

export function parseManifests(text: string, source: string): ManifestDocument[] {
  const documents: ManifestDocument[] = []
  for (const { start, line, body } of splitDocuments(text)) {
    const nul = body.indexOf('\0')
    if (nul >= 0)
      throw syntaxError(source, positionAt(text, start + nul), 'a NUL byte is not allowed in YAML')
    documents.push(...(parseJson(body, source, line) ?? parseYaml(body, source, line)))
  }
  return documents
}

interface Piece {
  readonly start: number
  readonly line: number
  readonly body: string
}

/** Splits a stream at its `---` lines, which a quoted or block text cannot contain in column one. */
function* splitDocuments(text: string): Generator<Piece> {
  const separator = /^---(?=[ \t\r\n]|$)/gm
  let start = 0
  let line = 1
  for (let match = separator.exec(text); ; match = separator.exec(text)) {
    const end = match ? match.index : text.length
    const body = text.slice(start, end)
    if (body.trim() !== '' && body.trim() !== '---') yield { start, line, body }
    if (!match) return
    line += countLines(body)
    start = end
    separator.lastIndex = end + 3
  }
}

function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** Parses JSON with the fast parser. The YAML parser reads any other text and reports errors. */
function parseJson(body: string, source: string, line: number): ManifestDocument[] | undefined {
  const text = body.replace(/^---[ \t]*/, '').trim()
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined
  if (nesting(text) > maxDepth) throw tooDeep(source, line)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const later = once(() => parseYaml(body, source, line)[0])
  return [{ source, line, value, locate: field => later()?.locate(field) }]
}

function parseYaml(body: string, source: string, firstLine: number): ManifestDocument[] {
  if (nesting(body) > maxDepth) throw tooDeep(source, firstLine)
  const counter = new LineCounter()
  const place = (offset: number): Position => {
    const { line, col } = counter.linePos(offset)
    return { line: line + firstLine - 1, column: col }
  }
  const found = parseAllDocuments(body, {
    lineCounter: counter,
    prettyErrors: false,
    version: '1.1',
    customTags: plainTags,
    logLevel: 'silent',
  })
  const documents: ManifestDocument[] = []
  for (const document of Array.isArray(found) ? found : []) {
    const problem = document.errors[0]
    if (problem)
      throw syntaxError(source, place(problem.pos[0]), `${sentence(problem.message)}${adviceFor(problem)}`)
    let value: unknown
    try {
      value = document.toJS({ maxAliasCount: 100 })
    } catch (error) {
      throw syntaxError(source, place(document.range[0]), sentence(reasonOf(error)))
    }
    if (value === null || value === undefined) continue
    documents.push({
      source,
      line: place(document.contents?.range?.[0] ?? document.range[0]).line,
      value,
      locate: field => locate(document, field, place),
    })
  }
  return documents
}

/** YAML as Kubernetes reads it: `yes` and `on` are booleans, but dates, binaries and base-60 numbers stay text. */
function plainTags(tags: Tags): Tags {
  const unwanted = new Set([
    'tag:yaml.org,2002:timestamp',
    'tag:yaml.org,2002:binary',
    'tag:yaml.org,2002:set',
  ])
  return tags.filter(
    tag => typeof tag === 'string' || !(unwanted.has(tag.tag) || ('format' in tag && tag.format === 'TIME')),
  )
}

function locate(
  document: Document,
  field: string,
  place: (offset: number) => Position,
): Position | undefined {
  let node: unknown = document.contents
  let range = rangeOf(node)
  for (let rest = field; rest !== ''; ) {
    if (isAlias(node)) node = node.resolve(document)
    if (isMap(node)) {
      const { items } = node
      const step = firstKey(
        items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : [])),
        rest,
      )
      const pair = step && items.find(({ key }) => isScalar(key) && String(key.value) === step.key)
      if (!pair) break
      range = rangeOf(pair.key) ?? range
      node = pair.value
      rest = step.rest
    } else if (isSeq(node)) {
      const step = firstIndex(rest)
      const item = step && node.items[step.index]
      if (!step || item === undefined) break
      node = item
      range = rangeOf(node) ?? range
      rest = step.rest
    } else break
  }
  return range && place(range[0])
}

function rangeOf(node: unknown): readonly [number, number, number] | undefined {
  return typeof node === 'object' && node !== null && 'range' in node
    ? ((node.range ?? undefined) as [number, number, number] | undefined)
    : undefined
}

/** Nesting depth of brackets or indentation: a cheap upper bound without parsing. */
function nesting(text: string): number {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x7d || code === 0x5d) depth = Math.max(0, depth - 1)
  }
  for (const [spaces] of text.matchAll(/^(?:[ ]|- )+/gm)) deepest = Math.max(deepest, indentLevels(spaces))
  return deepest
}

function indentLevels(spaces: string): number {
  return Math.max(spaces.length / 8, spaces.split('- ').length - 1)
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset)
  return { line: countLines(before) + 1, column: offset - before.lastIndexOf('\n') }
}

function syntaxError(source: string, at: Position, text: string): CommandError {
  return new CommandError(`${source}:${at.line}:${at.column}: ${text}`)
}

/** Messages of the YAML parser that do not name the mistake. */
function adviceFor({ code, message }: YAMLParseError): string {
  if (code === 'BLOCK_AS_IMPLICIT_KEY')
    return '; check the indentation of this line and the next, and quote values that contain ": "'
  return message.startsWith('Implicit ')
    ? '; expected "key: value" on this line, with a space after the colon'
    : ''
}

function tooDeep(source: string, line: number): CommandError {
  return new CommandError(`${source}:${line}: nested more than ${maxDepth} levels deep`)
}

function sentence(message: string): string {
  return message.split('\n')[0]!.replace(/ at line \d+, column \d+.*$/, '')
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'no such file'
  if (error instanceof Error && 'code' in error && error.code === 'EISDIR') return 'it is a directory'
  return error instanceof Error ? error.message : String(error)
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
