// SPDX-License-Identifier: Apache-2.0
import { compileDeviceSelector, DeviceSelectorError, type DeviceSelectorResult } from '@grove/apimachinery'
import type { SliceDevice } from '../types.ts'
import type { Device } from './inventory.ts'
import type { Query } from './requests.ts'

/** Selectors by expression. Bounded: dropping entries costs only time. */
const compiled = new Map<string, DeviceSelectorResult>()
const mostCompiled = 1024

function compile(expression: string): DeviceSelectorResult {
  let result = compiled.get(expression)
  if (!result) {
    result = compileDeviceSelector(expression)
    if (compiled.size >= mostCompiled) compiled.clear()
    compiled.set(expression, result)
  }
  return result
}

/** Results by device and query. Devices are replaced with their slice when it changes. */
const known = new WeakMap<SliceDevice, Map<string, boolean | string>>()
const mostKnown = 256

/** Reports whether the query selects the device; a text if its selectors cannot be evaluated. */
export function matches(query: Query, device: Device): boolean | string {
  let results = known.get(device.source)
  if (!results) {
    results = new Map()
    known.set(device.source, results)
  }
  let result = results.get(query.key)
  if (result === undefined) {
    result = evaluate(query, device)
    if (results.size >= mostKnown) results.clear()
    results.set(query.key, result)
  }
  return result
}

/** Selectors of the class come first: those of a request may read attributes that only devices of the class have. */
function evaluate({ classSelectors, selectors }: Query, device: Device): boolean | string {
  for (const expression of [...classSelectors, ...selectors]) {
    const result = compile(expression)
    if (!result.ok) return `device selector ${expression} (${result.error})`
    try {
      if (!result.selector.matches(device.cel)) return false
    } catch (error) {
      if (error instanceof DeviceSelectorError)
        return `device selector ${expression} (${error.message} for device ${device.id})`
      throw error
    }
  }
  return true
}
