// SPDX-License-Identifier: Apache-2.0

import type { FieldError, JsonObject, NameRule } from '@grove/apimachinery'
import type { KubeObject, ObjectOf } from '../object.ts'
import type { Random } from '../random.ts'
import type { StructType } from '../schema/type-table.ts'
import type { ServerContext } from '../server/context.ts'
import type { UserInfo } from '../server/request.ts'
import type { Verb } from '../server/request-info.ts'
import type { Store } from '../store/index.ts'

/** One version of a kind, as the API serves it. */
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
  /** The name of the storage. Several versions or groups may share it. */
  readonly storage: string
  /** Converts between the stored version and this version. Absent if they are the same. */
  readonly conversion?: Conversion
  readonly codec: Codec
  /** Set for kinds that are evaluated and never stored, such as reviews. */
  readonly evaluate?: Evaluation
  readonly strategy: Strategy
  readonly columns: readonly Column[]
  /** Field selectors beyond metadata.name and metadata.namespace. */
  readonly selectableFields: SelectableFields
  readonly scale?: ScalePaths
  /** The type of a built-in kind. Custom kinds have a schema instead. */
  readonly struct?: StructType
  /** The OpenAPI schema of a custom kind, as in its definition. */
  readonly schema?: JsonObject
}

/** Field selectors of a kind, by path. */
export type SelectableFields<T = KubeObject> = Readonly<Record<string, (object: ObjectOf<T>) => string>>

/** Evaluates a review: returns the object with its status. */
export type Evaluation<T = KubeObject> = (
  object: ObjectOf<T>,
  context: ServerContext,
  user: UserInfo,
) => Promise<ObjectOf<T>>

/** The discovery information of a subresource. */
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

/** Decodes objects and applies defaults. */
export interface Codec {
  /** Returns a new object without unknown fields. Throws DecodeError if a value does not fit its type. */
  decode(value: JsonObject): { readonly object: KubeObject; readonly unknownFields: readonly string[] }
  /** Sets defaults in place. */
  applyDefaults(draft: KubeObject): void
}

/** The environment of a strategy. */
export interface StrategyContext {
  /** Seconds precision, RFC 3339. */
  readonly now: string
  readonly random: Random
  readonly store: Store
}

/** The rules of a kind for writes, like a registry strategy of the real API server. */
export interface Strategy<T = KubeObject> {
  /** Default: DNS subdomain. */
  readonly nameRule?: NameRule
  /** Writes to the main resource keep the stored status, and writes to /status keep all other fields. */
  readonly hasStatus: boolean
  /** A create request may set the status. Default: the status is dropped. */
  readonly keepsNewStatus?: boolean
  /** Changes outside metadata and status increment metadata.generation. */
  readonly hasGeneration: boolean
  /** Changes of annotations increment it too. */
  readonly annotationsCount?: boolean
  /** A PUT to a name that does not exist creates the object. */
  readonly createOnUpdate?: boolean
  /** An update must have a resourceVersion. */
  readonly requireResourceVersion?: boolean
  prepareForCreate?(draft: ObjectOf<T>, context: StrategyContext): void
  prepareForUpdate?(draft: ObjectOf<T>, old: ObjectOf<T>, context: StrategyContext): void
  prepareForStatusUpdate?(draft: ObjectOf<T>, old: ObjectOf<T>, context: StrategyContext): void
  /** `validate` also validates the metadata. */
  readonly validatesMetadata?: boolean
  /** Changes the object before the deletion is evaluated. */
  prepareForDelete?(draft: ObjectOf<T>): void
  /**
   * Reports whether something other than metadata.finalizers blocks the removal, for example spec.finalizers
   * of a namespace.
   */
  isHeld?(object: ObjectOf<T>): boolean
  validate?(object: ObjectOf<T>): FieldError[]
  validateUpdate?(object: ObjectOf<T>, old: ObjectOf<T>): FieldError[]
  /**
   * Validates against other objects, for example a port that is in use. Runs only if all other validation
   * succeeds.
   */
  validateAmongOthers?(
    object: ObjectOf<T>,
    old: ObjectOf<T> | undefined,
    context: StrategyContext,
  ): FieldError[]
  validateStatusUpdate?(object: ObjectOf<T>, old: ObjectOf<T>): FieldError[]
  warnings?(object: ObjectOf<T>, old: ObjectOf<T> | undefined): string[]
  /** The default propagation policy. When absent: Background. */
  readonly defaultPropagation?: 'Orphan'
  /** The warning for deletions without a propagation policy. */
  readonly deletionWarning?: string
  /** A deletion returns the object instead of a Status. */
  readonly returnsDeleted?: boolean
  /** The grace period in seconds. Kinds without this method are removed at once. */
  gracePeriod?(object: ObjectOf<T>, asked: number | undefined): number
  /** Releases resources that were allocated for the object. Runs after its removal. */
  released?(object: ObjectOf<T>, context: StrategyContext): void
}

/** One column of server-side printing. A `priority` above 0 shows only with `-o wide`. */
export interface Column<T = KubeObject> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  readonly description: string
  readonly priority?: number
  /** Returns the cell. Times are RFC 3339 if the type is date. `now` is for ages. */
  cell(object: ObjectOf<T>, now: number): unknown
}

/** The replica fields of a kind. A path is a list of field names. */
export interface ScalePaths {
  readonly specReplicas: readonly string[]
  readonly statusReplicas: readonly string[]
  /** A label selector object for built-in kinds, a string for custom kinds. */
  readonly selector?: readonly string[]
}
