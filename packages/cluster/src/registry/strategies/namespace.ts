// SPDX-License-Identifier: Apache-2.0

import { dns1123Label } from '@grove/apimachinery'
import type { Namespace } from '../../schema/types.generated.ts'
import type { Strategy } from '../resource.ts'

/** Removed by the namespace controller when everything in the namespace is gone. */
export const namespaceFinalizer = 'kubernetes'

export const namespaceStrategy: Partial<Strategy> = {
  returnsDeleted: true,
  nameRule: dns1123Label,
  prepareForCreate(draft) {
    const namespace = draft as unknown as Namespace
    namespace.status = { phase: 'Active' }
    const finalizers = namespace.spec?.finalizers ?? []
    namespace.spec = {
      finalizers: finalizers.includes(namespaceFinalizer) ? finalizers : [...finalizers, namespaceFinalizer],
    }
  },
  prepareForDelete(draft) {
    const namespace = draft as unknown as Namespace
    namespace.status = { ...namespace.status, phase: 'Terminating' }
  },
  isHeld: object => Boolean((object as unknown as Namespace).spec?.finalizers?.length),
  prepareForUpdate(draft, old) {
    draft.spec = structuredClone(old.spec)
  },
}
