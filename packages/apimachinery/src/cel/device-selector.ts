// SPDX-License-Identifier: Apache-2.0
import { Environment } from '@marcbachmann/cel-js'
import { registerLibraries } from './environment.ts'
import { describeEvaluationError } from './evaluation-error.ts'
import { celQuantity } from './quantity-functions.ts'
import { CelSemver, registerSemverFunctions } from './semver-functions.ts'

/** The part of a device in a ResourceSlice that selectors of DeviceClasses and ResourceClaims read. */
export interface SelectableDevice {
  readonly driver: string
  readonly attributes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly capacity?: Readonly<Record<string, { readonly value?: unknown }>>
}

export interface DeviceSelector {
  /** Throws a DeviceSelectorError if the evaluation fails, as the Kubernetes scheduler does. */
  matches(device: CelDevice): boolean
}

export type DeviceSelectorResult =
  | { readonly ok: true; readonly selector: DeviceSelector }
  | { readonly ok: false; readonly error: string }

/** The expression could not be evaluated for a device. */
export class DeviceSelectorError extends Error {}

declare const celDeviceMark: unique symbol
/**
 * A device as the CEL library reads it. Made once for each device, because a device is compared with many selectors.
 */
export interface CelDevice {
  readonly [celDeviceMark]?: true
}

let environment: Environment | undefined

/**
 * Compiles the CEL expression of a device selector. Not supported: uses of `device.attributes` and `device.capacity`
 * other than the lookup of one domain, `has()` on such a lookup, and the functions that rules of CRDs do not support
 * either.
 */
export function compileDeviceSelector(expression: string): DeviceSelectorResult {
  // A lookup returns an empty map for an unknown domain. The library would do the same for the operator `in`.
  if (/\bdevice\s*\.\s*(attributes|capacity)\b(?!\s*\[)/.test(expression))
    return { ok: false, error: 'device.attributes and device.capacity are supported with a domain only' }
  try {
    environment ??= registerSemverFunctions(
      registerLibraries(
        new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false }),
      ).registerVariable('device', 'dyn'),
    )
    const parsed = environment.parse(expression)
    const checked = parsed.check()
    if (!checked.valid) return { ok: false, error: checked.error?.summary ?? 'compilation failed' }
    if (checked.type !== 'bool' && checked.type !== 'dyn')
      return { ok: false, error: `must evaluate to bool but got ${checked.type}` }
    const matches = (device: CelDevice): boolean => {
      let result: unknown
      try {
        result = parsed({ device })
      } catch (error) {
        throw new DeviceSelectorError(describeEvaluationError(error))
      }
      if (typeof result !== 'boolean')
        throw new DeviceSelectorError('the expression did not return a boolean')
      return result
    }
    return { ok: true, selector: { matches } }
  } catch (error) {
    return { ok: false, error: describeEvaluationError(error) }
  }
}

/** Names without a domain belong to the domain of the driver. */
export function celDevice({ driver, attributes = {}, capacity = {} }: SelectableDevice): CelDevice {
  return {
    driver,
    allowMultipleAllocations: false,
    attributes: byDomain(driver, attributes, attributeValue),
    capacity: byDomain(driver, capacity, entry => celQuantity(entry?.value)),
  } as CelDevice
}

const nothing: ReadonlyMap<string, unknown> = new Map()

function byDomain<Value>(
  driver: string,
  values: Readonly<Record<string, Value>>,
  convert: (value: Value) => unknown,
): Map<string, ReadonlyMap<string, unknown>> {
  const domains = new Map<string, Map<string, unknown>>()
  for (const [name, value] of Object.entries(values)) {
    const slash = name.indexOf('/')
    const domain = slash < 0 ? driver : name.slice(0, slash)
    const own = domains.get(domain) ?? new Map<string, unknown>()
    domains.set(domain, own.set(name.slice(slash + 1), convert(value)))
  }
  // The library accepts plain maps only, so one method of this map is replaced instead of deriving a class.
  const found = domains as Map<string, ReadonlyMap<string, unknown>>
  found.get = domain => Map.prototype.get.call(domains, domain) ?? nothing
  return found
}

/** A value of a type that is not known here is an object that no operator accepts. */
class UnknownAttribute {}

function attributeValue(attribute: Readonly<Record<string, unknown>>): unknown {
  const [kind, value] = Object.entries(attribute ?? {})[0] ?? []
  switch (kind) {
    case 'int':
      // Larger numbers are not exact after JSON was read.
      return Number.isSafeInteger(value) ? BigInt(value as number) : new UnknownAttribute()
    case 'bool':
    case 'string':
      return value
    case 'version':
      return CelSemver.parse(String(value)) ?? new UnknownAttribute()
    default:
      return new UnknownAttribute()
  }
}
