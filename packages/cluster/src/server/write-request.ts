// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import type { AdmissionAttributes } from './admission.ts'
import { type ServerContext, timestamp } from './context.ts'
import type { FieldWrite } from './field-ownership.ts'
import type { WriteOptions } from './options.ts'
import type { UserInfo } from './request.ts'

/** One write to one resource, independent of the verb. */
export class WriteRequest {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  readonly user: UserInfo
  readonly options: WriteOptions
  readonly warnings: string[] = []

  constructor(from: {
    resource: Resource
    namespace: string
    name: string
    subresource: string
    user: UserInfo
    options: WriteOptions
  }) {
    this.resource = from.resource
    this.namespace = from.namespace
    this.name = from.name
    this.subresource = from.subresource
    this.user = from.user
    this.options = from.options
  }

  readonly warn = (text: string): void => {
    if (!this.warnings.includes(text)) this.warnings.push(text)
  }

  attributes(
    operation: AdmissionAttributes['operation'],
    object: KubeObject | undefined,
    oldObject: KubeObject | undefined,
    options: Readonly<Record<string, unknown>> = {},
  ): AdmissionAttributes {
    return {
      operation,
      resource: this.resource,
      subresource: this.subresource,
      namespace: this.namespace,
      name: object?.metadata.name ?? this.name,
      object,
      oldObject,
      options,
      dryRun: this.options.dryRun,
      user: this.user,
      warn: this.warn,
    }
  }

  fieldWrite({ clock }: ServerContext): FieldWrite {
    return {
      resource: this.resource,
      subresource: this.subresource,
      manager: this.options.fieldManager,
      now: timestamp(clock.now()),
    }
  }
}
