// SPDX-License-Identifier: Apache-2.0

// Counts how much work a function does with an object, because time varies. It counts reads of the object,
// operations of maps and sets, and the characters that text operations process.

/** Wraps an object so that every read of it, or of anything in it, is counted. */
export type Watch = <T>(value: T) => T

export function workOf(run: (watch: Watch) => void): number {
  const counter = { work: 0 }
  const restore = countOperations(counter)
  try {
    run(watching(counter))
  } finally {
    restore()
  }
  return counter.work
}

interface Counter {
  work: number
}

function watching(counter: Counter): Watch {
  // The same object must always get the same proxy, because rules compare by identity.
  const watched = new WeakMap<object, object>()
  const watch = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    let proxy = watched.get(value)
    if (!proxy) {
      proxy = new Proxy(value, {
        get(target, key) {
          counter.work++
          return watch(Reflect.get(target, key))
        },
      })
      watched.set(value, proxy)
      watched.set(proxy, proxy)
    }
    return proxy
  }
  return watch as Watch
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** The cost of built-in methods, by receiver, first argument and result. */
const costs: [
  owner: object,
  methods: string[],
  cost: (self: unknown, arg: unknown, result: unknown) => number,
][] = [
  [Map.prototype, ['get', 'set', 'has'], () => 1],
  [Set.prototype, ['has', 'add'], () => 1],
  [Array.prototype, ['includes', 'indexOf', 'lastIndexOf'], self => lengthOf(self)],
  [Array.prototype, ['join'], (_self, _arg, result) => lengthOf(result)],
  [String.prototype, ['split', 'replace', 'match', 'trim', 'toLowerCase'], self => lengthOf(self)],
  [String.prototype, ['slice', 'startsWith', 'endsWith'], () => 1],
  [RegExp.prototype, ['test'], (_self, arg) => lengthOf(arg)],
  [Buffer, ['byteLength'], (_self, arg) => lengthOf(arg)],
  [JSON, ['stringify'], (_self, _arg, result) => lengthOf(result)],
]

function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 1
}

/** Replaces the methods with counting ones. The returned function restores the originals. */
function countOperations(counter: Counter): () => void {
  const originals: [owner: Record<string, unknown>, name: string, method: unknown][] = []
  for (const [owner, methods, cost] of costs) {
    for (const name of methods) {
      const target = owner as Record<string, unknown>
      const method = target[name] as Method
      originals.push([target, name, method])
      target[name] = function (this: unknown, ...args: unknown[]): unknown {
        const result = Reflect.apply(method, this, args) as unknown
        counter.work += cost(this, args[0], result)
        return result
      }
    }
  }
  return () => {
    for (const [owner, name, method] of originals) owner[name] = method
  }
}
