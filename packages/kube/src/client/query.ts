// SPDX-License-Identifier: Apache-2.0

import type {
  ApplyOptions,
  DeleteCollectionOptions,
  PageOptions,
  SelectOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts'

type Value = string | number | boolean | undefined

/** Formats `?a=1&b=2` without undefined, empty and false values; empty if none are left. */
function query(values: Readonly<Record<string, Value>>): string {
  let text = ''
  for (const name in values) {
    const value = values[name]
    if (value === undefined || value === '' || value === false) continue
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`
  }
  return text
}

function selectors(options: SelectOptions) {
  return { labelSelector: options.labelSelector, fieldSelector: options.fieldSelector }
}

export function getQuery(resourceVersion: string | undefined): string {
  return query({ resourceVersion })
}

export function pageQuery(options: PageOptions): string {
  // A continue token contains its resourceVersion; the server rejects requests with both.
  const first = options.continue === undefined
  return query({
    ...selectors(options),
    limit: options.limit || undefined,
    continue: options.continue,
    resourceVersion: first ? options.resourceVersion : undefined,
    resourceVersionMatch: first ? options.resourceVersionMatch : undefined,
  })
}

export function watchQuery(options: WatchOptions): string {
  return query({
    watch: true,
    allowWatchBookmarks: true,
    ...selectors(options),
    resourceVersion: options.resourceVersion,
    resourceVersionMatch:
      options.resourceVersionMatch ?? (options.sendInitialEvents ? 'NotOlderThan' : undefined),
    sendInitialEvents: options.sendInitialEvents,
    timeoutSeconds: options.timeoutSeconds,
  })
}

export function writeQuery(options: WriteOptions, fieldManager: string | undefined): string {
  return query({
    fieldManager: options.fieldManager ?? fieldManager,
    fieldValidation: options.fieldValidation,
    dryRun: options.dryRun ? 'All' : undefined,
  })
}

export function applyQuery(options: ApplyOptions): string {
  return query({
    fieldManager: options.fieldManager,
    force: options.force,
    fieldValidation: options.fieldValidation,
    dryRun: options.dryRun ? 'All' : undefined,
  })
}

export function deleteCollectionQuery(options: DeleteCollectionOptions): string {
  return query(selectors(options))
}
