// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject } from '../json-value.ts'
import { quote } from '../quote.ts'
import { type FieldSet, isEmptySet } from './field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.ts'
import { compareGoText, goJsonString } from './go-text.ts'

export type Operation = 'Apply' | 'Update'

/** An entry of metadata.managedFields. */
export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: Operation
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: string
  readonly fieldsV1?: JsonObject
  readonly subresource?: string
}

/** The fields of one manager, and the time of its last change. */
export interface Ownership {
  readonly manager: string
  readonly operation: Operation
  readonly apiVersion: string
  readonly subresource: string
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** By `ownerId`. */
export type Owners = ReadonlyMap<string, Ownership>

/** The identity of a manager. The version does not matter for appliers. The API server sorts by this text. */
export function ownerId(
  owner: Pick<Ownership, 'manager' | 'operation' | 'apiVersion' | 'subresource'>,
): string {
  const version = owner.operation === 'Apply' ? '' : owner.apiVersion
  const members: string[] = []
  if (owner.manager) members.push(`"manager":${goJsonString(owner.manager)}`)
  members.push(`"operation":"${owner.operation}"`)
  if (version) members.push(`"apiVersion":${goJsonString(version)}`)
  if (owner.subresource) members.push(`"subresource":${goJsonString(owner.subresource)}`)
  return `{${members.join(',')}}`
}

/** Throws a SyntaxError with the reason. */
export function decodeManagedFields(entries: unknown): Owners {
  const owners = new Map<string, Ownership>()
  if (!Array.isArray(entries)) return owners
  entries.forEach((entry: unknown, i) => {
    const owner = decodeEntry(isJsonObject(entry) ? entry : {}, i)
    owners.set(ownerId(owner), owner)
  })
  return owners
}

function decodeEntry(entry: JsonObject, index: number): Ownership {
  const { operation } = entry
  if (operation !== 'Apply' && operation !== 'Update')
    throw new SyntaxError('operation must be `Apply` or `Update`')
  if (typeof entry.apiVersion !== 'string' || entry.apiVersion === '')
    throw new SyntaxError('apiVersion must not be empty')
  if (!entry.fieldsType) throw new SyntaxError(`missing fieldsType in managed fields entry ${index}`)
  if (entry.fieldsType !== 'FieldsV1')
    throw new SyntaxError(
      `invalid fieldsType ${quote(String(entry.fieldsType))} in managed fields entry ${index}`,
    )
  return {
    manager: textOf(entry.manager),
    operation,
    apiVersion: entry.apiVersion,
    subresource: textOf(entry.subresource),
    time: typeof entry.time === 'string' ? entry.time : undefined,
    fields: decodeFieldsV1(entry.fieldsV1),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns undefined if there are no owners. */
export function encodeManagedFields(owners: Owners): ManagedFieldsEntry[] | undefined {
  if (owners.size === 0) return undefined
  return [...owners.values()].sort(compareOwners).map(owner => ({
    ...(owner.manager ? { manager: owner.manager } : {}),
    operation: owner.operation,
    apiVersion: owner.apiVersion,
    ...(owner.time === undefined ? {} : { time: owner.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: encodeFieldsV1(owner.fields),
    ...(owner.subresource ? { subresource: owner.subresource } : {}),
  }))
}

function compareOwners(a: Ownership, b: Ownership): number {
  return (
    compareGoText(a.operation, b.operation) ||
    secondsOf(a.time) - secondsOf(b.time) ||
    compareGoText(a.manager, b.manager) ||
    compareGoText(a.apiVersion, b.apiVersion) ||
    compareGoText(a.subresource, b.subresource)
  )
}

export function secondsOf(time: string | undefined): number {
  const milliseconds = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1000)
}

/** Times in metadata have whole seconds. */
export function wholeSeconds(time: string): string {
  return time.replace(/\.\d+(?=Z|[+-]\d\d:\d\d$)/, '')
}

/** Replaces the fields of one owner, or removes the owner if it has none left. */
export function withOwner(owners: Owners, id: string, owner: Ownership): Map<string, Ownership> {
  const result = new Map(owners)
  if (isEmptySet(owner.fields)) result.delete(id)
  else result.set(id, owner)
  return result
}
