// SPDX-License-Identifier: Apache-2.0

// A kind that every cluster has and that no controller acts on.
import type { KubeObject } from '../client/object.ts'
import { defineResource } from '../client/resource.ts'

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

export const configMaps = defineResource<ConfigMap>({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
})
