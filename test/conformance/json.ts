// SPDX-License-Identifier: Apache-2.0

export type JsonObject = Record<string, unknown>

/** The value at a path such as `spec.containers.0.image`; keys with dots in them are given one by one. */
export function at(value: unknown, ...path: string[]): unknown {
  const keys = path.length === 1 ? path[0]!.split('.') : path
  let found = value
  for (const key of keys) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as JsonObject)[key]
  }
  return found
}

/** A JSON document with a way to look into it. */
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

  /** A copy of the whole document, to be sent back with changes. */
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
