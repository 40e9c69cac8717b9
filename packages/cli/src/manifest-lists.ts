// SPDX-License-Identifier: Apache-2.0

// Lists taken apart, as `kubectl get -o yaml` writes them: every command sees the objects in them, each at its place.
import type { ManifestDocument } from './manifest.ts'
import { isObject } from './set-manifest.ts'

/** The objects of a list, of lists in it too; any other document as it is. */
export function itemsOf(document: ManifestDocument): ManifestDocument[] {
  const { value } = document
  if (!isObject(value) || typeof value.kind !== 'string' || typeof value.apiVersion !== 'string')
    return [document]
  const { apiVersion, kind, items } = value
  if (!kind.endsWith('List') || !Array.isArray(items)) return [document]
  return items.flatMap((item, index) =>
    itemsOf(itemAt(document, `items[${index}]`, inherited(item, apiVersion, kind))),
  )
}

function itemAt(list: ManifestDocument, path: string, value: unknown): ManifestDocument {
  return {
    source: list.source,
    // Only when asked: in JSON, places cost a second parse.
    get line() {
      return list.locate(path)?.line ?? list.line
    },
    value,
    locate: field => list.locate(`${path}.${field}`),
  }
}

/** Items of a typed list need not say what they are. */
function inherited(item: unknown, apiVersion: string, listKind: string): unknown {
  if (!isObject(item) || listKind === 'List') return item
  return { apiVersion, kind: listKind.slice(0, -'List'.length), ...item }
}
