// SPDX-License-Identifier: Apache-2.0

import { customResourceDefinitions, type PolicyRule } from '@grove/api'

/**
 * All permissions of the installer. The names also restrict creation, because an apply patch names the object that it
 * creates; a POST would be rejected.
 */
export const installerRules: readonly PolicyRule[] = [
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    resourceNames: customResourceDefinitions.map(crd => crd.metadata.name ?? ''),
    verbs: ['get', 'create', 'patch'],
  },
]
