// SPDX-License-Identifier: Apache-2.0

import type { UserInfo } from './request.ts'

/** What a request wants to do, as authorizers see it. */
export interface AccessAttributes {
  readonly user: UserInfo
  /** get, list, watch, create, update, patch, delete, deletecollection, or the HTTP method in lower case. */
  readonly verb: string
  readonly isResource: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
}

/** Undefined allows; a text is the reason of the refusal. */
export type Authorizer = (attributes: AccessAttributes) => string | undefined | Promise<string | undefined>
