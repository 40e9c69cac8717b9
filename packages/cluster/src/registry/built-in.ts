// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectOf } from '../object.ts'
import { decodeAs } from '../schema/decode.ts'
import { structType } from '../schema/type-table.ts'
import type { Verb } from '../server/request-info.ts'
import type {
  Column,
  Conversion,
  Evaluation,
  Resource,
  ScalePaths,
  SelectableFields,
  Strategy,
  SubresourceInfo,
} from './resource.ts'
import { nameAndAge } from './tables/column.ts'

/** The properties of a built-in kind that do not follow from its type. */
export interface BuiltInKind<T = KubeObject, S = KubeObject> {
  /** The name in the type table: `core/v1.Pod`. */
  readonly type: string
  /** The API group. It is not always the package name plus `.k8s.io`. */
  readonly group: string
  readonly plural: string
  readonly namespaced: boolean
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly verbs?: readonly Verb[]
  readonly subresources?: Readonly<Record<string, SubresourceInfo>>
  readonly strategy?: Partial<Strategy<T>>
  readonly defaults?: (draft: ObjectOf<T>) => void
  readonly columns?: readonly Column<T>[]
  readonly selectableFields?: SelectableFields<T>
  readonly scale?: ScalePaths
  readonly storage?: string
  readonly conversion?: Conversion<T, S>
  readonly evaluate?: Evaluation<T>
}

/**
 * Describes a built-in kind whose objects have type T and are stored as type S. This is the only place where
 * the registry drops the type of a kind. It is safe because `decode` below builds every object from the type
 * table that T is generated from.
 */
export function kind<T, S = KubeObject>(descriptor: BuiltInKind<T, S>): BuiltInKind {
  return descriptor as unknown as BuiltInKind
}

export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]

export const objectVerbs: readonly Verb[] = ['get', 'patch', 'update']

const scaleInfo: SubresourceInfo = { kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: objectVerbs }

export function builtIn(kind: BuiltInKind): Resource {
  const struct = structType(kind.type)
  const [home = '', name = ''] = kind.type.split('.')
  const version = home.split('/')[1]!
  const hasStatus = kind.strategy?.hasStatus ?? struct.fields.has('status')
  const subresources = new Map<string, SubresourceInfo>(Object.entries(kind.subresources ?? {}))
  if (kind.scale) subresources.set('scale', scaleInfo)
  if (hasStatus) subresources.set('status', { kind: name, verbs: objectVerbs })
  return {
    group: kind.group,
    version,
    kind: name,
    plural: kind.plural,
    singular: kind.singular ?? name.toLowerCase(),
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    namespaced: kind.namespaced,
    verbs: kind.verbs ?? allVerbs,
    subresources,
    storage: kind.storage ?? (kind.group ? `${kind.plural}.${kind.group}` : kind.plural),
    conversion: kind.conversion,
    evaluate: kind.evaluate,
    codec: {
      decode: value => decodeAs<KubeObject>(struct, value),
      applyDefaults: draft => kind.defaults?.(draft),
    },
    strategy: { hasGeneration: false, ...kind.strategy, hasStatus },
    columns: kind.columns ?? nameAndAge,
    selectableFields: kind.selectableFields ?? {},
    scale: kind.scale,
    struct,
  }
}
