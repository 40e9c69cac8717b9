// SPDX-License-Identifier: Apache-2.0

/** `'%s has %d items'.format([…])`: supports %s, %d, %f, %e, %x, %X, %o, %b and %%. */
export function formatCel(template: string, values: readonly unknown[]): string {
  let next = 0
  return template.replace(/%(?:\.(\d+))?(.?)/gsu, (_, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%'
    if (next >= values.length) throw new RangeError(`index ${next} out of range`)
    const value = values[next++]
    const digits = precision === undefined ? 6 : Math.min(Number(precision), 100)
    switch (verb) {
      case 's':
        return celText(value)
      case 'd':
        return integer(value, verb).toString()
      case 'b':
        return typeof value === 'boolean' ? (value ? '1' : '0') : integer(value, verb).toString(2)
      case 'o':
        return integer(value, verb).toString(8)
      case 'x':
        return hexadecimal(value)
      case 'X':
        return hexadecimal(value).toUpperCase()
      case 'f':
        return Number(value).toFixed(digits)
      case 'e':
        return Number(value)
          .toExponential(digits)
          .replace(/e([+-])(\d)$/, 'e$10$2')
      default:
        throw new RangeError(`unrecognized formatting clause "${verb}"`)
    }
  })
}

function integer(value: unknown, verb: string): bigint {
  if (typeof value === 'bigint') return value
  throw new RangeError(`%${verb} needs an integer`)
}

function hexadecimal(value: unknown): string {
  if (typeof value === 'string') return Buffer.from(value, 'utf8').toString('hex')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return integer(value, 'x').toString(16)
}

/** Formats a value for %s. */
function celText(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `[${value.map(celText).join(', ')}]`
  if (value instanceof Date) return value.toISOString().replace(/\.000Z$/, 'Z')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, member]) => `${key}: ${celText(member)}`).join(', ')}}`
  }
  return String(value)
}
