// SPDX-License-Identifier: Apache-2.0
import type { Environment } from '@marcbachmann/cel-js'
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  QuantityError,
  quantityOf,
  quantityValue,
  readQuantity,
  subtractQuantities,
} from '../quantity.ts'

class CelQuantity {
  readonly quantity: Quantity

  constructor(quantity: Quantity) {
    this.quantity = quantity
  }
}

const TYPE = 'kubernetes.Quantity'
const maxInt64 = (1n << 63n) - 1n

/** `quantity('1.5Gi')` with comparison, arithmetic and conversion. */
export function registerQuantityFunctions(environment: Environment): void {
  const compare = (a: CelQuantity, b: CelQuantity) => compareQuantities(a.quantity, b.quantity)
  environment
    .registerType(TYPE, CelQuantity)
    .registerFunction(`quantity(string): ${TYPE}`, (text: string) => new CelQuantity(parseQuantity(text)))
    .registerFunction('isQuantity(string): bool', isQuantity)
    .registerFunction(`${TYPE}.isInteger(): bool`, (a: CelQuantity) => asInteger(a.quantity) !== undefined)
    .registerFunction(`${TYPE}.asInteger(): int`, (a: CelQuantity) => {
      const integer = asInteger(a.quantity)
      if (integer === undefined) throw new RangeError('cannot convert value to integer')
      return integer
    })
    .registerFunction(
      `${TYPE}.asApproximateFloat(): double`,
      (a: CelQuantity) => Number(a.quantity.unscaled) * 10 ** a.quantity.scale,
    )
    .registerFunction(
      `${TYPE}.add(${TYPE}): ${TYPE}`,
      (a: CelQuantity, b: CelQuantity) => new CelQuantity(addQuantities(a.quantity, b.quantity)),
    )
    .registerFunction(
      `${TYPE}.add(int): ${TYPE}`,
      (a: CelQuantity, b: bigint) => new CelQuantity(addQuantities(a.quantity, quantityOf(b))),
    )
    .registerFunction(
      `${TYPE}.sub(${TYPE}): ${TYPE}`,
      (a: CelQuantity, b: CelQuantity) => new CelQuantity(subtractQuantities(a.quantity, b.quantity)),
    )
    .registerFunction(
      `${TYPE}.sub(int): ${TYPE}`,
      (a: CelQuantity, b: bigint) => new CelQuantity(subtractQuantities(a.quantity, quantityOf(b))),
    )
    .registerFunction(`${TYPE}.compareTo(${TYPE}): int`, (a: CelQuantity, b: CelQuantity) =>
      BigInt(compare(a, b)),
    )
    .registerFunction(
      `${TYPE}.isLessThan(${TYPE}): bool`,
      (a: CelQuantity, b: CelQuantity) => compare(a, b) < 0,
    )
    .registerFunction(
      `${TYPE}.isGreaterThan(${TYPE}): bool`,
      (a: CelQuantity, b: CelQuantity) => compare(a, b) > 0,
    )
    .registerOperator(`${TYPE} == ${TYPE}`, (a: CelQuantity, b: CelQuantity) => compare(a, b) === 0)
}

/** The CEL value of a quantity in a Kubernetes object; undefined if it cannot be read. */
export function celQuantity(value: unknown): unknown {
  const quantity = readQuantity(value)
  return quantity instanceof QuantityError ? undefined : new CelQuantity(quantity)
}

function isQuantity(text: string): boolean {
  return text === text.trim() && !(readQuantity(text) instanceof QuantityError)
}

/** Returns the value as a 64-bit integer, if it is one. */
function asInteger(quantity: Quantity): bigint | undefined {
  const value = quantityValue(quantity)
  const exact = compareQuantities(quantityOf(value), quantity) === 0
  return exact && value <= maxInt64 && value >= -maxInt64 - 1n ? value : undefined
}
