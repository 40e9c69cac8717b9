// SPDX-License-Identifier: Apache-2.0

// The errors that an API server returns for the pods of a template. It is an entry of its own, because it needs no
// server.
import type { FieldError } from '@grove/apimachinery'
import { defaultPodTemplate } from './registry/defaults/pod.ts'
import { validatePodSpec } from './registry/validation/pod.ts'
import { DecodeError, decodeStruct } from './schema/decode.ts'
import { structType } from './schema/type-table.ts'
import type { PodSpec } from './schema/types.generated.ts'

/** `field` is the path of the pod spec. */
export function podErrors(podSpec: unknown, field: string): FieldError[] {
  let spec: PodSpec
  try {
    spec = decodeStruct(structType('core/v1.PodSpec'), podSpec).object
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return [{ kind: 'Invalid value', field, detail: error.message, valueOmitted: true }]
  }
  defaultPodTemplate({ spec })
  return validatePodSpec(spec, field)
}
