// SPDX-License-Identifier: Apache-2.0

import type { AdmissionPlugin } from '../server/admission.ts'
import { ApiError, apiError } from '../server/status.ts'

const systemNamespaces = new Set(['default', 'kube-system', 'kube-public'])
const namespaces = { group: '', plural: 'namespaces' }

/** Rejects creation in namespaces that do not exist or are terminating, and deletion of system namespaces. */
export const namespaceLifecycle: AdmissionPlugin = {
  name: 'NamespaceLifecycle',
  mutate(attributes, { store }) {
    const { operation, resource, namespace, name } = attributes
    if (operation !== 'CREATE' || !resource.namespaced) return
    const found = store.get('namespaces', namespace)
    if (!found) throw apiError.notFound(namespaces, namespace)
    if (!found.metadata.deletionTimestamp) return
    const rejection = apiError.forbidden(
      resource,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
    )
    const cause = {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    }
    throw new ApiError(403, 'Forbidden', rejection.message, { ...rejection.status.details, causes: [cause] })
  },
  validate({ operation, resource, name }) {
    if (operation === 'DELETE' && resource.storage === 'namespaces' && systemNamespaces.has(name))
      throw apiError.forbidden(namespaces, name, 'this namespace may not be deleted')
  },
}
