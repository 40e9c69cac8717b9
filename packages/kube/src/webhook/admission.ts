// SPDX-License-Identifier: Apache-2.0

// An admission request and the responses to it, as values. The wire format is in review.ts.
import type { JsonPatchOperation } from '../client/options.ts'
import { diff } from './json-patch.ts'

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** `admission.k8s.io/v1` AdmissionRequest; v1beta1 has the same shape. Objects are as the API server sent them. */
export interface AdmissionRequest {
  readonly uid: string
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  readonly subResource?: string
  readonly name?: string
  readonly namespace?: string
  readonly operation: string
  readonly userInfo: {
    readonly username?: string
    readonly uid?: string
    readonly groups?: readonly string[]
  }
  readonly object?: unknown
  readonly oldObject?: unknown
  readonly options?: unknown
  readonly dryRun?: boolean
}

export interface AdmissionResponse {
  readonly allowed: boolean
  readonly code: number
  readonly reason?: string
  readonly message?: string
  readonly patch?: readonly JsonPatchOperation[]
  /** Shown to the user, also if the request is denied. */
  readonly warnings?: readonly string[]
  /** The rules that reject the request, for metrics and the log; not part of the response. */
  readonly rules?: readonly string[]
}

interface Remarks {
  readonly message?: string
  readonly warnings?: readonly string[]
}

export function allowed(remarks: Remarks = {}): AdmissionResponse {
  return { allowed: true, code: 200, ...remarks }
}

/** The user sees `admission webhook "<name>" denied the request: <message>`. */
export function denied(
  message: string,
  remarks: Pick<Remarks, 'warnings'> & Pick<AdmissionResponse, 'rules'> = {},
): AdmissionResponse {
  return { allowed: false, code: 403, reason: 'Forbidden', message, ...remarks }
}

/** The request could not be evaluated. */
export function errored(code: number, message: string): AdmissionResponse {
  return { allowed: false, code, message }
}

/** Allows the request, with a patch from the received object to the given one; without a difference, no patch. */
export function patched(
  original: unknown,
  changed: unknown,
  remarks: Pick<Remarks, 'warnings'> = {},
): AdmissionResponse {
  const patch = diff(original, changed)
  return { ...allowed(remarks), ...(patch.length > 0 && { patch }) }
}
