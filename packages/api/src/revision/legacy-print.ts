// SPDX-License-Identifier: Apache-2.0

// Prints JSON as Go's deep printer prints the decoded Go value: with types, on one line, every field of every struct,
// unset fields included. `(v1.Container){Name:(string)main Image:(string)app:1 …}`.
import { type Quantity, QuantityError, readQuantity } from '@grove/apimachinery'
import { compareBytes } from './byte-order.ts'
import { type GoStruct, type GoType, goType } from './go-types.ts'
import { objectOf } from './input.ts'

/** Prints a value without its type. Null and undefined print as the zero value. */
type Printer = (value: unknown) => string

const printers = new Map<string, Printer>()

/** The print of a JSON value as the named Go type. */
export function legacyPrint(typeName: string, value: unknown): string {
  return `(${typeName})${printerOf(goType(typeName))(value)}`
}

function printerOf(type: GoType): Printer {
  let printer = printers.get(type.name)
  if (!printer) {
    printer = withCachedZero(buildPrinter(type))
    printers.set(type.name, printer)
  }
  return printer
}

/** Caches the zero value, because most fields of most structs are unset. */
function withCachedZero(printer: Printer): Printer {
  const zero = printer(undefined)
  return value => (value === undefined || value === null ? zero : printer(value))
}

function buildPrinter(type: GoType): Printer {
  switch (type.kind) {
    case 'scalar': {
      const zero = String(type.zero)
      return value => (value === undefined || value === null ? zero : String(value))
    }
    case 'pointer': {
      const print = printerOf(type.element)
      return value => (value === undefined || value === null ? '<nil>' : print(value))
    }
    case 'list': {
      const print = elementPrinter(type.element)
      return value => (Array.isArray(value) ? `[${value.map(print).join(' ')}]` : '<nil>')
    }
    case 'map': {
      const print = elementPrinter(type.element)
      return value => (value === undefined || value === null ? '<nil>' : printMap(objectOf(value), print))
    }
    case 'struct':
      return structPrinter(type)
    case 'quantity':
      return printQuantity
    case 'intOrString':
      return printIntOrString
  }
}

/** Elements of lists and maps are printed without their type. A pointer among them is marked. */
function elementPrinter(type: GoType): Printer {
  const print = printerOf(type)
  if (type.kind !== 'pointer') return value => print(value)
  return value => (value === undefined || value === null ? '<nil>' : `<*>${print(value)}`)
}

function printMap(map: Readonly<Record<string, unknown>>, print: Printer): string {
  const keys = Object.keys(map).sort(compareBytes)
  return `map[${keys.map(key => `${key}:${print(map[key])}`).join(' ')}]`
}

function structPrinter(type: GoStruct): Printer {
  const fields = type.fields.map((field, index) => ({
    jsonName: field.jsonName,
    start: `${index === 0 ? '' : ' '}${field.goName}:(${field.type.name})`,
    print: printerOf(field.type),
  }))
  return value => {
    const members = objectOf(value)
    let text = '{'
    for (const { jsonName, start, print } of fields)
      text += start + print(jsonName === '+' ? members : jsonName === '-' ? undefined : members[jsonName])
    return `${text}}`
  }
}

function printIntOrString(value: unknown): string {
  return typeof value === 'string'
    ? `{Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)${value}}`
    : `{Type:(intstr.Type)0 IntVal:(int32)${value ?? 0} StrVal:(string)}`
}

const unsetQuantity = { unscaled: 0n, scale: 0, text: '', isBig: false, format: '' }

function printQuantity(value: unknown): string {
  const read = value === undefined || value === null ? unsetQuantity : readQuantity(value)
  const quantity = read instanceof QuantityError ? unsetQuantity : read
  const small = quantity.isBig ? unsetQuantity : quantity
  return (
    `{i:(resource.int64Amount){value:(int64)${small.unscaled} scale:(resource.Scale)${small.scale}} ` +
    `d:(resource.infDecAmount){Dec:(*inf.Dec)${quantity.isBig ? printBigDecimal(quantity) : '<nil>'}} ` +
    `s:(string)${quantity.text} Format:(resource.Format)${quantity.format}}`
  )
}

/** Go stores a big integer as 64-bit limbs, the lowest first, and counts decimal places instead of powers of ten. */
function printBigDecimal({ unscaled, scale }: Pick<Quantity, 'unscaled' | 'scale'>): string {
  const limbs: bigint[] = []
  for (let rest = unscaled < 0n ? -unscaled : unscaled; rest > 0n; rest >>= 64n)
    limbs.push(BigInt.asUintN(64, rest))
  const digits = limbs.length ? `[${limbs.join(' ')}]` : '<nil>'
  return `{unscaled:(big.Int){neg:(bool)${unscaled < 0n} abs:(big.nat)${digits}} scale:(inf.Scale)${0 - scale}}`
}
