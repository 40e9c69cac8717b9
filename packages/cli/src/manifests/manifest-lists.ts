// SPDX-License-Identifier: Apache-2.0

// Expands lists, as `kubectl get -o yaml` writes them, so that every command sees their objects with their positions.
import type { ManifestDocument } from './manifest.ts'
import { isObject } from './manifest-value.ts'

/** The items of a list, nested lists included. Any other document is returned unchanged. */
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
    // Computed on demand: in JSON, positions require a second parse.
    get line() {
      return list.locate(path)?.line ?? list.line
    },
    value,
    locate: field => list.locate(`${path}.${field}`),
  }
}

/** Items of a typed list may omit apiVersion and kind. */
function inherited(item: unknown, apiVersion: string, listKind: string): unknown {
  if (!isObject(item) || listKind === 'List') return item
  return { apiVersion, kind: listKind.slice(0, -'List'.length), ...item }
}
