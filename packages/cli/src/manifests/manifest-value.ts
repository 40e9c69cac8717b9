// SPDX-License-Identifier: Apache-2.0

import type { ManifestDocument } from './manifest.ts'

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function kindOf(document: ManifestDocument): string {
  const { value } = document
  return isObject(value) && typeof value.kind === 'string' ? value.kind : ''
}
