// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, isJsonObject, type JsonObject } from '@grove/apimachinery'
import { DecodeError, decodeStruct } from '../schema/decode.ts'
import { structType } from '../schema/type-table.ts'
import { parseOptionsBody } from './body.ts'
import { schemeName } from './decode-object.ts'
import { parseNumber } from './list-options.ts'
import { dryRunErrors, isDryRun } from './options.ts'
import type { ApiRequest } from './request.ts'
import { isTrue } from './request-info.ts'
import { apiError } from './status.ts'

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

/** Reads the options from the body if there is one, else from the query. */
export function parseDeleteOptions(request: ApiRequest): DeleteOptions {
  const values = request.body?.length ? fromBody(request) : fromQuery(request.query)
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
  if (errors.length > 0) throw apiError.invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors)
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

function fromBody(request: ApiRequest): JsonObject {
  const body = parseOptionsBody(request, optionsType)
  const { kind, apiVersion = 'meta.k8s.io/v1' } = body
  // Every group accepts these options, so only the kind is checked.
  if (kind && kind !== 'DeleteOptions')
    throw apiError.badRequest(
      `no kind "${String(kind)}" is registered for version "${String(apiVersion)}" in scheme "${schemeName}"`,
    )
  try {
    return decodeStruct(optionsType, body).object
  } catch (error) {
    if (error instanceof DecodeError) throw apiError.badRequest(error.message)
    throw error
  }
}

function fromQuery(query: URLSearchParams): JsonObject {
  const grace = parseNumber(query, 'gracePeriodSeconds')
  const orphan = query.get('orphanDependents')
  return {
    ...(grace !== undefined && { gracePeriodSeconds: grace }),
    ...(orphan !== null && { orphanDependents: isTrue(orphan) }),
    ...(query.get('propagationPolicy') && { propagationPolicy: query.get('propagationPolicy') }),
    dryRun: query.getAll('dryRun'),
  }
}
