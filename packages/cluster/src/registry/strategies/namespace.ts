// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, type FieldError, fieldError } from '@grove/apimachinery'
import type { Namespace } from '../../schema/types.generated.ts'
import type { Strategy } from '../resource.ts'

/** The namespace controller removes it when the namespace is empty. */
const namespaceFinalizer = 'kubernetes'

export const namespaceStrategy: Partial<Strategy<Namespace>> = {
  returnsDeleted: true,
  nameRule: dns1123Label,
  prepareForCreate(namespace) {
    namespace.status = { phase: 'Active' }
    const finalizers = namespace.spec?.finalizers ?? []
    namespace.spec = {
      finalizers: finalizers.includes(namespaceFinalizer) ? finalizers : [...finalizers, namespaceFinalizer],
    }
  },
  prepareForDelete(namespace) {
    namespace.status = { ...namespace.status, phase: 'Terminating' }
  },
  validate: validateFinalizers,
  validateUpdate: () => [],
  validateStatusUpdate(object) {
    const phase = object.status?.phase
    const wanted = object.metadata.deletionTimestamp ? 'Terminating' : 'Active'
    const when = object.metadata.deletionTimestamp ? 'is not empty' : 'is empty'
    return phase === wanted
      ? []
      : [
          fieldError.invalid(
            'status.Phase',
            phase,
            `may only be '${wanted}' if \`deletionTimestamp\` ${when}`,
          ),
        ]
  },
  isHeld: object => Boolean(object.spec?.finalizers?.length),
  prepareForUpdate(draft, old) {
    draft.spec = structuredClone(old.spec)
  },
}

const finalizerText = 'name is neither a standard finalizer name nor is it fully qualified'

function validateFinalizers(object: Namespace): FieldError[] {
  return foreignFinalizers(object).map(([name]) => fieldError.invalid('spec.finalizers', name, finalizerText))
}

/** For the finalize subresource, whose messages contain the index. */
export function validateFinalize(object: Namespace): FieldError[] {
  return foreignFinalizers(object).map(([name, index]) =>
    fieldError.invalid(`spec.finalizers[${index}]`, name, finalizerText),
  )
}

function foreignFinalizers(object: Namespace): [name: string, index: number][] {
  const finalizers = object.spec?.finalizers ?? []
  return finalizers
    .map((name, index): [string, number] => [name, index])
    .filter(([name]) => name !== namespaceFinalizer && !name.includes('/'))
}
