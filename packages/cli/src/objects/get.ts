// SPDX-License-Identifier: Apache-2.0

// `grove get` prints objects as tables of the server, as YAML, as JSON, by name, or with a template.
import {
  collectionPath,
  type DiscoveredResource,
  isKubeError,
  type KubeObject,
  objectPath,
} from '@grove/kube/client'
import {
  type ClusterOptions,
  type LiveCluster,
  serverMessage,
  withCluster,
} from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { printJson, printLines, printNote } from '../terminal/print.ts'
import { printYaml } from '../terminal/print-objects.ts'
import { customColumnLines } from './custom-columns.ts'
import { readObjects, resolveObject } from './manifest-objects.ts'
import { objectsNamed } from './object-arguments.ts'
import { customColumnsOf, isCustomColumns, isJsonPath, jsonPathPrinter } from './output-format.ts'
import { displayName, ServedKinds } from './served-kinds.ts'
import { type Table, TablePrinter, tableAccept } from './table.ts'
import { watchTables } from './watch-tables.ts'

export interface GetOptions extends ClusterOptions {
  readonly filename?: string[]
  readonly allNamespaces?: boolean
  readonly output?: string
  readonly sortBy?: string
  readonly watch?: boolean
  readonly selector?: string
  readonly fieldSelector?: string
  readonly showLabels?: boolean
  readonly showManagedFields?: boolean
  readonly headers: boolean
  readonly ignoreNotFound?: boolean
}

/** A query for one resource: one object by name, or all that match. */
export interface Query {
  readonly resource: DiscoveredResource
  readonly namespace: string | undefined
  readonly name: string | undefined
}

/** Objects per response, so that a large list does not overload the server. */
const pageSize = 500

export async function get(args: readonly string[], options: GetOptions): Promise<number> {
  const printValue = valuePrinter(options)
  return withCluster(options, async cluster => {
    const queries = await queriesOf(args, options, cluster)
    if (options.watch && printValue)
      throw new CommandError('--watch prints tables only: omit -o, or use -o wide')
    if (printValue) return printObjectsOf(cluster, queries, options, printValue)
    const several = new Set(queries.map(({ resource }) => resource)).size > 1
    if (options.watch && queries.length > 1)
      throw new CommandError('--watch accepts one resource type, or one object')
    if (options.watch && options.sortBy)
      printNote('Warning: --watch requested, --sort-by will be ignored for watch events received')
    return printTables(cluster, queries, options, several)
  })
}

/** Prints one object, or a list of them. */
type ValuePrinter = (objects: readonly KubeObject[], isOne: boolean) => void

/** Prints objects in the format of the options. Undefined: prints tables. */
function valuePrinter({ output, showManagedFields, headers }: GetOptions): ValuePrinter | undefined {
  if (output === undefined || output === 'wide') return undefined
  if (isJsonPath(output)) {
    const print = jsonPathPrinter(output)
    return (objects, isOne) => print(isOne ? objects[0] : listOf(objects))
  }
  if (isCustomColumns(output)) {
    const columns = customColumnsOf(output)
    return objects => printLines(customColumnLines(columns, objects, headers))
  }
  const print = output === 'json' ? printJson : printYaml
  return (objects, isOne) => {
    const shown = showManagedFields ? objects : objects.map(withoutManagedFields)
    print(isOne ? shown[0] : listOf(shown))
  }
}

function listOf(items: readonly KubeObject[]): object {
  return { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items }
}

async function queriesOf(
  args: readonly string[],
  options: GetOptions,
  cluster: LiveCluster,
): Promise<Query[]> {
  const kinds = await ServedKinds.of(cluster.client)
  if (options.filename) {
    if (args.length > 0) throw new CommandError('use either resource arguments or -f FILE, not both')
    const where = { namespace: cluster.namespace, isExplicit: options.namespace !== undefined }
    const objects = await readObjects(options.filename)
    return Promise.all(
      objects.map(async object => {
        const { resource, ref } = await resolveObject(object, kinds, where)
        return { resource, namespace: ref.namespace, name: ref.name }
      }),
    )
  }
  const named = objectsNamed(args, kinds)
  const isByName = named.some(({ names }) => names !== undefined)
  if (isByName && options.allNamespaces)
    throw new CommandError('a name cannot be combined with --all-namespaces')
  if (isByName && (options.selector || options.fieldSelector))
    throw new CommandError('a name cannot be combined with a selector')
  return named.flatMap(({ resource, names }) => {
    const namespace = resource.namespaced && !options.allNamespaces ? cluster.namespace : undefined
    return (names ?? [undefined]).map(name => ({ resource, namespace, name }))
  })
}

async function printTables(
  cluster: LiveCluster,
  queries: readonly Query[],
  options: GetOptions,
  several: boolean,
): Promise<number> {
  const printers = new Map<DiscoveredResource, TablePrinter>()
  const printerOf = (resource: DiscoveredResource) => {
    let printer = printers.get(resource)
    if (!printer) {
      printer = new TablePrinter({
        wide: options.output === 'wide',
        namespaces: (options.allNamespaces ?? false) && resource.namespaced,
        labels: options.showLabels ?? false,
        headers: options.headers,
        ...(several && { prefix: displayName(resource, '').slice(0, -1) }),
      })
      printers.set(resource, printer)
    }
    return printer
  }
  let printed = 0
  let exitCode = 0
  let resourceVersion = ''
  let last: DiscoveredResource | undefined
  for (const query of queries)
    try {
      for await (const table of tablesOf(cluster, query, options)) {
        const lines = printerOf(query.resource).lines(table)
        if (lines.length && last !== undefined && last !== query.resource) printLines([''])
        if (lines.length) last = query.resource
        printed += lines.length
        resourceVersion = table.metadata?.resourceVersion ?? resourceVersion
        printLines(lines)
      }
    } catch (error) {
      exitCode = failure(error, options)
    }
  if (printed === 0 && exitCode === 0 && !options.ignoreNotFound) printNote(nothing(cluster, queries))
  if (options.watch && exitCode === 0)
    await watchTables(
      cluster.client,
      queries,
      { ...options, resourceVersion },
      printerOf(queries[0]!.resource),
    )
  return exitCode
}

async function* tablesOf(cluster: LiveCluster, query: Query, options: GetOptions): AsyncGenerator<Table> {
  const { resource, namespace, name } = query
  const ask = async (path: string) =>
    (await cluster.client.raw({ verb: 'get', method: 'GET', path, accept: tableAccept })) as Table
  if (name !== undefined) {
    yield await ask(objectPath(resource, { name, namespace }))
    return
  }
  if (options.sortBy) {
    // All rows at once, with their objects.
    const table = await ask(`${collectionPath(resource, namespace)}?${sortedQuery(options)}`)
    const { sortedBy } = await import('./sort-by.ts')
    yield { ...table, rows: sortedBy(options.sortBy, table.rows ?? [], ({ object }) => object) }
    return
  }
  for (let next: string | undefined = ''; next !== undefined; ) {
    const table = await ask(`${collectionPath(resource, namespace)}?${listQuery(options, next)}`)
    yield table
    next = table.metadata?.continue || undefined
  }
}

function listQuery(options: GetOptions, next: string): string {
  return queryOf(options, { limit: String(pageSize), ...(next && { continue: next }) })
}

function sortedQuery(options: GetOptions): string {
  return queryOf(options, { includeObject: 'Object' })
}

function queryOf({ selector, fieldSelector }: GetOptions, more: Record<string, string>): string {
  const query = new URLSearchParams(more)
  if (selector) query.set('labelSelector', selector)
  if (fieldSelector) query.set('fieldSelector', fieldSelector)
  return query.toString()
}

async function printObjectsOf(
  { client }: LiveCluster,
  queries: readonly Query[],
  options: GetOptions,
  printValue: ValuePrinter,
): Promise<number> {
  let exitCode = 0
  let found: { readonly resource: DiscoveredResource; readonly object: KubeObject }[] = []
  for (const { resource, namespace, name } of queries)
    try {
      const { selector: labelSelector, fieldSelector } = options
      const objects =
        name === undefined
          ? (await client.list(resource, { namespace, labelSelector, fieldSelector })).items
          : [await client.get(resource, { name, namespace })]
      found.push(...objects.map(object => ({ resource, object })))
    } catch (error) {
      exitCode = failure(error, options)
    }
  const isOne = queries.length === 1 && queries[0]?.name !== undefined
  if (options.sortBy && !isOne) {
    const { sortedBy } = await import('./sort-by.ts')
    found = sortedBy(options.sortBy, found, ({ object }) => object)
  }
  if (options.output === 'name') {
    printLines(found.map(({ resource, object }) => displayName(resource, object.metadata?.name ?? '')))
    return exitCode
  }
  const objects = found.map(({ object }) => object)
  if (isOne && objects.length === 0) return exitCode
  printValue(objects, isOne)
  return exitCode
}

/** managedFields are long, and few users need them. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {}
  return { ...object, metadata }
}

function failure(error: unknown, options: GetOptions): number {
  if (!isKubeError(error) || error.status === undefined) throw error
  if (error.code === 'NotFound' && options.ignoreNotFound) return 0
  printNote(serverMessage(error))
  return 1
}

function nothing({ namespace }: LiveCluster, queries: readonly Query[]): string {
  const isInNamespace = queries.some(query => query.namespace !== undefined)
  return isInNamespace ? `No resources found in ${namespace} namespace.` : 'No resources found'
}
