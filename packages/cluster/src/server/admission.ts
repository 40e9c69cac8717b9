// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import type { ServerContext } from './context.ts'
import type { UserInfo } from './request.ts'

export interface AdmissionAttributes {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly resource: Resource
  readonly subresource: string
  /** The kind of the objects, if the subresource has its own, such as Scale. */
  readonly objectKind?: Resource
  readonly namespace: string
  readonly name: string
  /** The object in the version of the request. Mutating plugins change it in place or replace it. */
  object: KubeObject | undefined
  readonly oldObject: KubeObject | undefined
  readonly options: Readonly<Record<string, unknown>>
  readonly dryRun: boolean
  readonly user: UserInfo
  /** Adds a warning to the response. */
  warn(text: string): void
}

/** An admission plugin rejects a request by throwing an ApiError. */
export interface AdmissionPlugin {
  readonly name: string
  mutate?(attributes: AdmissionAttributes, context: ServerContext): void | Promise<void>
  validate?(attributes: AdmissionAttributes, context: ServerContext): void | Promise<void>
}

/** Runs all plugins: first the mutating ones, in order, then the validating ones on the final object. */
export class Admission {
  readonly #plugins: AdmissionPlugin[]

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = [...plugins]
  }

  /** Adds a plugin while the server runs. */
  add(plugin: AdmissionPlugin): void {
    this.#plugins.push(plugin)
  }

  async mutate(attributes: AdmissionAttributes, context: ServerContext): Promise<void> {
    for (const plugin of this.#plugins) {
      const pending = plugin.mutate?.(attributes, context)
      if (pending) await pending
    }
  }

  async validate(attributes: AdmissionAttributes, context: ServerContext): Promise<void> {
    for (const plugin of this.#plugins) {
      const pending = plugin.validate?.(attributes, context)
      if (pending) await pending
    }
  }
}
