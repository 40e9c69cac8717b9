// SPDX-License-Identifier: Apache-2.0

// A kind that the client does not know, for tests without a cluster.
import type { KubeObject } from '../client/object.ts'
import { defineResource } from '../client/resource.ts'

export interface Thing extends KubeObject {
  readonly spec?: { readonly size?: number }
}

export const things = defineResource<Thing>({
  group: 'example.com',
  version: 'v1',
  resource: 'things',
  kind: 'Thing',
  namespaced: true,
})
