// SPDX-License-Identifier: Apache-2.0

import type { GoField, GoType } from './go-types.ts'

/** `core/v1` → the types of that package. */
type Packages = ReadonlyMap<string, readonly GoType[]>

/** [json name, type, flags, extras], as src/schema/type-table.ts reads it. */
type Row = [name: string, type: string, flags: string, extras?: Record<string, string | string[]>]

/** Types with their own JSON encoding, by Go name. */
const leaves: Record<string, string> = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  int: 'int64',
  float64: 'float64',
  'runtime.RawExtension': 'any',
  'runtime.Object': 'any',
  'struct{}': 'any',
  'resource.Quantity': 'quantity',
  'intstr.IntOrString': 'intOrString',
  'types.UID': 'string',
  'types.NodeName': 'string',
  'meta/v1.Time': 'time',
  'meta/v1.MicroTime': 'microTime',
  'meta/v1.FieldsV1': 'any',
  'meta/v1.Duration': 'string',
  'meta/v1.Verbs': '[]string',
  'apiextensions/v1.JSON': 'any',
  'apiextensions/v1.JSONSchemaPropsOrArray': 'any',
  'apiextensions/v1.JSONSchemaPropsOrBool': 'any',
  'apiextensions/v1.JSONSchemaPropsOrStringArray': 'any',
  'apiextensions/v1.JSONSchemaURL': 'string',
}

/** The import name of each package in the sources of the others. */
const importNames: Record<string, string> = {
  metav1: 'meta/v1',
  v1: 'core/v1',
  corev1: 'core/v1',
  apiv1: 'core/v1',
  autoscalingv1: 'autoscaling/v1',
  authenticationv1: 'authentication/v1',
  schedulingv1alpha3: 'scheduling/v1alpha3',
}

export function tabulate(packages: Packages): Record<string, Row[]> {
  const table: Record<string, Row[]> = {}
  for (const [home, types] of packages)
    for (const type of types)
      if (type.kind === 'struct' && !leaves[`${home}.${type.name}`])
        table[`${home}.${type.name}`] = rows(packages, home, type.fields)
  return reachable(table)
}

/**
 * `outer` has the protobuf numbers of the structs that embed these fields and that JSON does not show. It is
 * null inside a struct without protobuf encoding.
 */
function rows(
  packages: Packages,
  home: string,
  fields: readonly GoField[],
  outer: string | null = '',
): Row[] {
  return fields.flatMap((field): Row[] => {
    if (field.json === '') {
      const embedded = findStruct(packages, home, field.goType)
      const path = field.protobuf && outer !== null ? `${outer}${field.protobuf}.` : null
      return embedded ? rows(packages, embedded.home, embedded.fields, path) : []
    }
    const type = resolveType(packages, home, field.goType)
    const flags = [
      type.pointer ? 'p' : '',
      field.omitEmpty ? 'e' : '',
      field.omitZero ? 'z' : '',
      field.optional ? 'o' : '',
    ].join('')
    const extras: Record<string, string | string[]> = {}
    if (field.patchStrategy) extras.patch = field.patchStrategy
    if (field.patchMergeKey) extras.key = field.patchMergeKey
    if (field.listType) extras.list = field.listType
    if (field.listMapKeys.length) extras.keys = [...field.listMapKeys]
    if (field.structType) extras.struct = field.structType
    if (field.protobuf && outer !== null) extras.wire = `${outer}${field.protobuf}`
    return [
      Object.keys(extras).length ? [field.json, type.name, flags, extras] : [field.json, type.name, flags],
    ]
  })
}

function resolveType(packages: Packages, home: string, goType: string): { name: string; pointer: boolean } {
  if (goType.startsWith('*')) return { ...resolveType(packages, home, goType.slice(1)), pointer: true }
  if (goType === '[]byte') return { name: 'bytes', pointer: false }
  if (goType.startsWith('[]'))
    return { name: `[]${resolveType(packages, home, goType.slice(2)).name}`, pointer: false }
  const map = /^map\[[^\]]+\](.+)$/.exec(goType)
  if (map) return { name: `{}${resolveType(packages, home, map[1]!).name}`, pointer: false }
  const [owner, name] = locate(home, goType)
  const full = owner ? `${owner}.${name}` : name
  const leaf = leaves[full] ?? leaves[goType]
  if (leaf) return { name: leaf, pointer: false }
  const declared = packages.get(owner)?.find(type => type.name === name)
  if (!declared) throw new Error(`${home}: ${goType} is not known; add it to the leaves`)
  return declared.kind === 'alias'
    ? resolveType(packages, owner, declared.target)
    : { name: full, pointer: false }
}

function locate(home: string, goType: string): [owner: string, name: string] {
  const dot = goType.indexOf('.')
  if (dot < 0) return [leaves[goType] ? '' : home, goType]
  const owner = importNames[goType.slice(0, dot)]
  return owner ? [owner, goType.slice(dot + 1)] : ['', goType]
}

function findStruct(
  packages: Packages,
  home: string,
  goType: string,
): { home: string; fields: readonly GoField[] } | undefined {
  const [owner, name] = locate(home, goType)
  const found = packages.get(owner)?.find(type => type.name === name)
  return found?.kind === 'struct' ? { home: owner, fields: found.fields } : undefined
}

/** Drops structs that no object uses: lists, options, and the types that only they use. */
function reachable(table: Record<string, Row[]>): Record<string, Row[]> {
  const wanted = new Set<string>()
  const visit = (name: string) => {
    const base = name.replace(/^(\[\]|\{\})+/, '')
    if (wanted.has(base) || !table[base]) return
    wanted.add(base)
    for (const row of table[base]) visit(row[1])
  }
  for (const [name, fields] of Object.entries(table))
    if (isObject(fields) || alwaysKept.has(name)) visit(name)
  return Object.fromEntries(
    Object.entries(table)
      .filter(([name]) => wanted.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

const alwaysKept = new Set(['meta/v1.DeleteOptions', 'core/v1.Binding'])

function isObject(fields: readonly Row[]): boolean {
  return (
    fields.some(([name, type]) => name === 'metadata' && type === 'meta/v1.ObjectMeta') &&
    fields[0]?.[0] === 'kind'
  )
}

/**
 * Renders the types as TypeScript interfaces. All fields are optional, because they also describe objects
 * that are not valid yet.
 */
export function renderInterfaces(table: Record<string, Row[]>): string {
  const lines = [
    '// SPDX-License-Identifier: Apache-2.0',
    '// Generated by packages/cluster/generate from the Go sources of Kubernetes; do not edit.',
  ]
  for (const [name, fields] of Object.entries(table)) {
    lines.push('', `export interface ${interfaceName(name)} {`)
    for (const [json, type] of fields)
      lines.push(`  ${/^[a-zA-Z]\w*$/.test(json) ? json : `'${json}'`}?: ${typescriptType(type)}`)
    lines.push('}')
  }
  return `${lines.join('\n')}\n`
}

const scalars: Record<string, string> = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  float64: 'number',
  quantity: 'string',
  intOrString: 'number | string',
  time: 'string | null',
  microTime: 'string | null',
  bytes: 'string',
  any: 'unknown',
}

function typescriptType(type: string): string {
  if (type.startsWith('[]')) {
    const inner = typescriptType(type.slice(2))
    return `${inner.includes('|') ? `(${inner})` : inner}[]`
  }
  if (type.startsWith('{}')) return `Record<string, ${typescriptType(type.slice(2))}>`
  return scalars[type] ?? interfaceName(type)
}

/** `core/v1.Pod` → `Pod`. Kinds that several groups have get a group prefix. */
function interfaceName(name: string): string {
  const [home = '', type = ''] = name.split('.')
  const [group = '', version = ''] = home.split('/')
  if (group === 'core' || group === 'meta') return type
  const prefix = group[0]!.toUpperCase() + group.slice(1)
  return `${prefix}${version === 'v1' ? '' : version.toUpperCase()}${type}`
}
