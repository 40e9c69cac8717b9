// SPDX-License-Identifier: Apache-2.0
import type { DeviceRequest, ResourceClaim } from '@grove/api'
import { canonicalText } from '../order.ts'
import type { DeviceClass } from '../types.ts'
import { unknownField } from './inventory.ts'

/** The devices that requests ask for: all selectors of the class and of the request must match. */
export interface Query {
  /** Equal queries have equal keys. */
  readonly key: string
  readonly className: string
  readonly classSelectors: readonly string[]
  readonly selectors: readonly string[]
}

export interface ReadRequest {
  readonly name: string
  readonly query: Query
  readonly count: number
}

export interface ReadClaim {
  readonly requests: readonly ReadRequest[]
  readonly classes: readonly string[]
  readonly missing: readonly { readonly kind: string; readonly name: string }[]
  /** Paths of fields that the core does not support. */
  readonly unsupported: readonly string[]
}

const claimFields = new Set(['requests', 'config'])
const requestFields = new Set(['name', 'exactly'])
const exactFields = new Set(['deviceClassName', 'selectors', 'allocationMode', 'count'])
const classFields = new Set(['selectors', 'config', 'extendedResourceName'])

/** Reads what a claim asks for. Fields that the core does not know are reported, never ignored. */
export function readClaim(
  { spec }: Pick<ResourceClaim, 'spec'>,
  classes: ReadonlyMap<string, DeviceClass>,
): ReadClaim {
  const requests: ReadRequest[] = []
  const names: string[] = []
  const missing: { kind: string; name: string }[] = []
  const unsupported: string[] = []
  const reject = (path: string) => unsupported.push(`spec.devices.${path} of ResourceClaims`)
  const devices = spec?.devices ?? {}
  const field = unknownField(devices as Readonly<Record<string, unknown>>, claimFields)
  if (field) reject(field)
  if (!devices.requests?.length) reject('requests without an entry')
  for (const request of devices.requests ?? []) {
    const problem = requestProblem(request)
    if (problem) reject(problem)
    const { exactly } = request
    if (problem || !exactly) continue
    names.push(exactly.deviceClassName)
    const deviceClass = classes.get(exactly.deviceClassName)
    if (!deviceClass) {
      missing.push({ kind: 'DeviceClass', name: exactly.deviceClassName })
      continue
    }
    const classField = unknownField(deviceClass.spec ?? {}, classFields)
    if (classField) unsupported.push(`spec.${classField} of DeviceClasses`)
    const query = queryOf(deviceClass, exactly.selectors ?? [])
    if (query) requests.push({ name: request.name, query, count: exactly.count ?? 1 })
    else reject('requests[].exactly.selectors[] without cel')
  }
  return { requests, classes: names, missing, unsupported }
}

function requestProblem(request: DeviceRequest): string | undefined {
  const field = unknownField(request as unknown as Readonly<Record<string, unknown>>, requestFields)
  if (field) return `requests[].${field}`
  const { exactly } = request
  if (!exactly) return 'requests[] without exactly'
  const exact = unknownField(exactly as unknown as Readonly<Record<string, unknown>>, exactFields)
  if (exact) return `requests[].exactly.${exact}`
  const { allocationMode = 'ExactCount', count = 1 } = exactly
  if (allocationMode !== 'ExactCount') return `requests[].exactly.allocationMode ${allocationMode}`
  return Number.isSafeInteger(count) && count > 0 ? undefined : 'requests[].exactly.count'
}

type Selectors = NonNullable<NonNullable<DeviceClass['spec']>['selectors']>

/** Undefined if a selector is of an unknown kind. */
function queryOf(deviceClass: DeviceClass, own: Selectors): Query | undefined {
  const classSelectors = expressions(deviceClass.spec?.selectors ?? [])
  const selectors = expressions(own)
  if (!classSelectors || !selectors) return undefined
  const className = deviceClass.metadata.name
  return { key: canonicalText([className, classSelectors, selectors]), className, classSelectors, selectors }
}

function expressions(selectors: Selectors): string[] | undefined {
  const found = selectors.map(({ cel }) => cel?.expression)
  return found.every(expression => expression !== undefined) ? found : undefined
}
