// SPDX-License-Identifier: Apache-2.0

import type { UserInfo } from './request.ts'

/** The attributes of a request that an authorizer evaluates. */
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

/** Returns undefined to allow the request, or the reason of the rejection. */
export type Authorizer = (attributes: AccessAttributes) => string | undefined | Promise<string | undefined>
