// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, isJsonObject, type JsonObject } from '@grove/apimachinery'
import { structType } from '../schema/type-table.ts'
import { parseBody } from './body.ts'
import { dryRunErrors, isDryRun } from './options.ts'
import type { ApiRequest } from './request.ts'
import { refuse } from './status.ts'

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground'

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: PropagationPolicy
  readonly orphanDependents?: boolean
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun: boolean
}

const optionsType = structType('meta/v1.DeleteOptions')
const policies = ['Foreground', 'Background', 'Orphan', 'nil']

/** From the body if there is one, else from the query. */
export function parseDeleteOptions(request: ApiRequest): DeleteOptions {
  const values = !request.body?.length
    ? fromQuery(request.query)
    : parseBody(request, 'DeleteOptions', optionsType).value
  const dryRun = Array.isArray(values.dryRun) ? values.dryRun.map(String) : []
  const errors: FieldError[] = []
  const policy = typeof values.propagationPolicy === 'string' ? values.propagationPolicy : undefined
  const orphan = typeof values.orphanDependents === 'boolean' ? values.orphanDependents : undefined
  if (orphan !== undefined && policy !== undefined)
    errors.push(
      fieldError.invalid(
        'propagationPolicy',
        policy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    )
  if (policy !== undefined && (policy === 'nil' || !policies.includes(policy)))
    errors.push(fieldError.unsupported('propagationPolicy', policy, policies))
  errors.push(...dryRunErrors(dryRun))
  if (errors.length > 0) throw refuse.invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors)
  const preconditions = isJsonObject(values.preconditions) ? values.preconditions : undefined
  return {
    ...(typeof values.gracePeriodSeconds === 'number' && { gracePeriodSeconds: values.gracePeriodSeconds }),
    ...(policy !== undefined && { propagationPolicy: policy as PropagationPolicy }),
    ...(orphan !== undefined && { orphanDependents: orphan }),
    ...(preconditions && {
      preconditions: {
        ...(typeof preconditions.uid === 'string' && { uid: preconditions.uid }),
        ...(typeof preconditions.resourceVersion === 'string' && {
          resourceVersion: preconditions.resourceVersion,
        }),
      },
    }),
    dryRun: isDryRun(dryRun),
  }
}

function fromQuery(query: URLSearchParams): JsonObject {
  const grace = query.get('gracePeriodSeconds')
  const orphan = query.get('orphanDependents')
  return {
    ...(grace !== null && grace !== '' && { gracePeriodSeconds: Number(grace) }),
    ...(orphan !== null && { orphanDependents: orphan === 'true' }),
    ...(query.get('propagationPolicy') && { propagationPolicy: query.get('propagationPolicy') }),
    dryRun: query.getAll('dryRun'),
  }
}
