// SPDX-License-Identifier: Apache-2.0

export type JsonObject = Record<string, unknown>

/** Returns the value at a path such as `spec.containers.0.image`. Keys that contain dots are separate arguments. */
export function at(value: unknown, ...path: string[]): unknown {
  const keys = path.length === 1 ? path[0]!.split('.') : path
  let found = value
  for (const key of keys) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as JsonObject)[key]
  }
  return found
}

/** A JSON document with access by path. */
export class Document {
  readonly body: unknown

  constructor(body: unknown) {
    this.body = body
  }

  at(...path: string[]): unknown {
    return at(this.body, ...path)
  }

  text(...path: string[]): string {
    return String(this.at(...path))
  }

  /** Returns a copy of the document, to send it back with changes. */
  object(): JsonObject & { metadata: JsonObject } {
    return structuredClone(this.body) as JsonObject & { metadata: JsonObject }
  }

  /** The items of a list. */
  get items(): unknown[] {
    const items = this.at('items')
    return Array.isArray(items) ? items : []
  }

  /** The names of the items of a list. */
  get names(): unknown[] {
    return this.items.map(item => at(item, 'metadata.name'))
  }
}
