// SPDX-License-Identifier: Apache-2.0
import { equal, match, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { celDevice, compileDeviceSelector, DeviceSelectorError } from './device-selector.ts'

const device = celDevice({
  driver: 'gpu.example.com',
  attributes: {
    model: { string: 'a100' },
    cores: { int: 8 },
    ecc: { bool: true },
    driverVersion: { version: '550.54.14' },
    'other.example.com/rack': { string: 'r1' },
    hops: { ints: [1, 2] },
  },
  capacity: { memory: { value: '80Gi' } },
})

const matching = [
  'device.driver == "gpu.example.com"',
  'device.attributes["gpu.example.com"].model == "a100"',
  'device.attributes["gpu.example.com"].model in ["a100", "h100"]',
  'device.attributes["gpu.example.com"].cores >= 8 && device.attributes["gpu.example.com"].ecc',
  'device.attributes["other.example.com"].rack.startsWith("r")',
  '"model" in device.attributes["gpu.example.com"]',
  '!("model" in device.attributes["unknown.example.com"])',
  'device.attributes["gpu.example.com"].?index.orValue(0) == 0',
  'cel.bind(gpu, device.attributes["gpu.example.com"], gpu.ecc && gpu.cores > 4)',
  'device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) == 0',
  'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("40Gi"))',
  'device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("550.0.0"))',
  'device.attributes["gpu.example.com"].driverVersion == semver("550.54.14+build")',
  'semver("1.0.0-rc.2").isLessThan(semver("1.0.0-rc.10")) && semver("1.0.0-rc.1").isLessThan(semver("1.0.0"))',
]

for (const expression of matching)
  test(`a device matches ${expression}`, () => {
    const compiled = compileDeviceSelector(expression)
    ok(compiled.ok, compiled.ok ? '' : compiled.error)
    equal(compiled.selector.matches(device), true)
  })

test('a device of another model or with less memory does not match', () => {
  for (const expression of [
    'device.attributes["gpu.example.com"].model == "h100"',
    'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("80Gi"))',
    'device.attributes["gpu.example.com"].cores == "8"',
  ]) {
    const compiled = compileDeviceSelector(expression)
    ok(compiled.ok)
    equal(compiled.selector.matches(device), false, expression)
  }
})

test('a missing attribute and a value of an unknown type are errors, never a match', () => {
  for (const expression of [
    'device.attributes["gpu.example.com"].missing == "x"',
    'device.attributes["unknown.example.com"].model == "a100"',
    'device.attributes["gpu.example.com"].hops == [1, 2]',
  ]) {
    const compiled = compileDeviceSelector(expression)
    ok(compiled.ok)
    throws(() => compiled.selector.matches(device), DeviceSelectorError, expression)
  }
})

test('expressions with unknown syntax, functions or uses of whole maps do not compile', () => {
  for (const expression of [
    'device.driver ==',
    'unknown(device.driver)',
    'device.driver.size()',
    '"gpu.example.com" in device.attributes',
    'size(device.capacity) > 0',
  ]) {
    const compiled = compileDeviceSelector(expression)
    ok(!compiled.ok, expression)
    match(compiled.error, /./)
  }
})
