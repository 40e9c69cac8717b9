// SPDX-License-Identifier: Apache-2.0

import type { FieldError, JsonObject, NameRule } from '@grove/apimachinery'
import type { KubeObject, ObjectOf } from '../object.ts'
import type { Random } from '../random.ts'
import type { StructType } from '../schema/type-table.ts'
import type { ServerContext } from '../server/context.ts'
import type { UserInfo } from '../server/request.ts'
import type { Verb } from '../server/request-info.ts'
import type { Store } from '../store/index.ts'

/** One kind in one version, as the API serves it. */
export interface Resource {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  readonly verbs: readonly Verb[]
  readonly subresources: ReadonlyMap<string, SubresourceInfo>
  /** Where its objects are stored; several versions, or groups, may share them. */
  readonly storage: string
  /** From the stored form to the form of this version, and back; absent where they are the same. */
  readonly conversion?: Conversion
  readonly codec: Codec
  /** Set for kinds that are never stored; creating one answers it. */
  readonly evaluate?: Evaluation
  readonly strategy: Strategy
  readonly columns: readonly Column[]
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly selectableFields: SelectableFields
  readonly scale?: ScalePaths
  /** The type of built-in kinds; custom ones have a schema instead. */
  readonly struct?: StructType
  /** OpenAPI schema of custom kinds, as their author wrote it. */
  readonly schema?: JsonObject
}

/** Field selectors of a kind, by path. */
export type SelectableFields<T = KubeObject> = Readonly<Record<string, (object: ObjectOf<T>) => string>>

/** Answers an object that is a question: what was asked, with the answer in it. */
export type Evaluation<T = KubeObject> = (
  object: ObjectOf<T>,
  context: ServerContext,
  user: UserInfo,
) => Promise<ObjectOf<T>>

/** What discovery says about a subresource. */
export interface SubresourceInfo {
  readonly kind: string
  readonly group?: string
  readonly version?: string
  readonly verbs: readonly Verb[]
}

export interface Conversion<T = KubeObject, S = KubeObject> {
  toStorage(object: ObjectOf<T>): ObjectOf<S>
  fromStorage(object: ObjectOf<S>): ObjectOf<T>
}

/** From what a client sent to an object of the kind, and its defaults. */
export interface Codec {
  /** A new object without what the kind does not know; throws DecodeError when a value does not fit. */
  decode(value: JsonObject): { readonly object: KubeObject; readonly unknownFields: readonly string[] }
  /** Fills what the client left open, in place. */
  applyDefaults(draft: KubeObject): void
}

/** What strategies may ask the world. */
export interface StrategyContext {
  /** Seconds precision, RFC 3339. */
  readonly now: string
  readonly random: Random
  readonly store: Store
}

/** What is special about a kind on its way into the store. */
export interface Strategy<T = KubeObject> {
  /** A DNS subdomain when absent. */
  readonly nameRule?: NameRule
  /** Writes to the main resource keep the stored status, writes to /status keep everything else. */
  readonly hasStatus: boolean
  /** A new object keeps the status that its creator gave it; others start without one. */
  readonly keepsNewStatus?: boolean
  /** Changes outside metadata and status count in metadata.generation. */
  readonly hasGeneration: boolean
  /** Changes of annotations count too. */
  readonly annotationsCount?: boolean
  /** A PUT to a name that does not exist creates it. */
  readonly createOnUpdate?: boolean
  /** Whether an update must name the resourceVersion it is based on. */
  readonly requireResourceVersion?: boolean
  prepareForCreate?(draft: ObjectOf<T>, context: StrategyContext): void
  prepareForUpdate?(draft: ObjectOf<T>, old: ObjectOf<T>, context: StrategyContext): void
  prepareForStatusUpdate?(draft: ObjectOf<T>, old: ObjectOf<T>, context: StrategyContext): void
  /** The checks of this strategy include those of the metadata. */
  readonly validatesMetadata?: boolean
  /** Before a deletion is decided on: what must still happen to the object first. */
  prepareForDelete?(draft: ObjectOf<T>): void
  /** Something beside metadata.finalizers keeps a deleted object: a namespace that is not empty. */
  isHeld?(object: ObjectOf<T>): boolean
  validate?(object: ObjectOf<T>): FieldError[]
  validateUpdate?(object: ObjectOf<T>, old: ObjectOf<T>): FieldError[]
  /** What only a look at other objects tells: an address that is taken. Asked when all else is right. */
  validateAmongOthers?(
    object: ObjectOf<T>,
    old: ObjectOf<T> | undefined,
    context: StrategyContext,
  ): FieldError[]
  validateStatusUpdate?(object: ObjectOf<T>, old: ObjectOf<T>): FieldError[]
  warnings?(object: ObjectOf<T>, old: ObjectOf<T> | undefined): string[]
  /** What happens to dependents when a deletion does not say; Background when absent. */
  readonly defaultPropagation?: 'Orphan'
  /** Told to clients that delete without saying what happens to dependents. */
  readonly deletionWarning?: string
  /** A deletion answers with the object itself instead of a Status. */
  readonly returnsDeleted?: boolean
  /** Seconds until the object may go; absent for kinds that go at once. */
  gracePeriod?(object: ObjectOf<T>, asked: number | undefined): number
  /** After the object has left the store: give back what was allocated for it. */
  released?(object: ObjectOf<T>, context: StrategyContext): void
}

/** One column of the server's tables. `priority` above 0 shows only with `-o wide`. */
export interface Column<T = KubeObject> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  readonly description: string
  readonly priority?: number
  /** The cell; times as RFC 3339 where the type is date. `now` for ages. */
  cell(object: ObjectOf<T>, now: number): unknown
}

/** Where a kind keeps its replicas. Paths are lists of field names. */
export interface ScalePaths {
  readonly specReplicas: readonly string[]
  readonly statusReplicas: readonly string[]
  /** The status of built-in kinds is computed from a label selector object, that of custom ones is a text. */
  readonly selector?: readonly string[]
}
