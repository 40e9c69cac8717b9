// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, setOwn } from '@grove/apimachinery'

/** RFC 7386: objects are merged, null removes, everything else replaces. Does not change its inputs. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch
  const result: JsonObject = isJsonObject(target) ? { ...target } : {}
  for (const key of Object.keys(patch)) {
    if (patch[key] === null) delete result[key]
    else
      setOwn(result, key, applyMergePatch(Object.hasOwn(result, key) ? result[key] : undefined, patch[key]))
  }
  return result
}
