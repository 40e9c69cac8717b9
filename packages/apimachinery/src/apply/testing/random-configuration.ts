// SPDX-License-Identifier: Apache-2.0

// Generates random parts of objects from a seed, with few names and values, so that writers often conflict.
import type { JsonObject } from '../../json-value.ts'

export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1
  }

  /** From 0 to below 1. Uses xorshift, so that a seed gives the same run everywhere. */
  next(): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  flip(chance = 0.5): boolean {
    return this.next() < chance
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  some<T>(values: readonly T[]): T[] {
    const left = [...values]
    const taken: T[] = []
    for (let n = this.below(values.length + 1); n > 0; n--)
      taken.push(left.splice(this.below(left.length), 1)[0]!)
    return taken
  }

  /** Returns an object with some of these members. */
  members(makers: Readonly<Record<string, () => unknown>>, chance = 0.5): JsonObject {
    const result: JsonObject = {}
    for (const [name, make] of Object.entries(makers)) if (this.flip(chance)) result[name] = make()
    return result
  }
}

const letters = ['a', 'b', 'c']

export function widgetSpec(chance: Chance): JsonObject {
  const letter = () => chance.pick(letters)
  const digit = () => chance.below(3)
  const entries = () => Object.fromEntries(chance.some(letters).map(key => [key, letter()]))
  const free = () =>
    chance.members({
      a: letter,
      list: () => chance.some([1, 2, 3]),
      object: entries,
      b: () => (chance.flip() ? entries() : digit()),
    })
  return chance.members(
    {
      size: digit,
      title: letter,
      limit: () => (chance.flip(0.3) ? null : digit()),
      defaulted: letter,
      either: () => (chance.flip() ? letter() : digit()),
      nested: () =>
        chance.members({
          a: letter,
          b: digit,
          deep: () => chance.members({ x: letter, y: () => chance.flip() }),
        }),
      unit: () => chance.members({ a: letter, b: letter }),
      entries,
      groups: () =>
        Object.fromEntries(chance.some(letters).map(key => [key, chance.members({ a: letter, b: letter })])),
      tags: () => chance.some(['x', 'y', 'z', 'a<b']),
      numbers: () => chance.some([1, 2, 10, 9]),
      args: () => chance.some(letters),
      env: () =>
        chance
          .some([...letters, 'a-b', 'a b'])
          .map(name => ({ name, ...chance.members({ value: letter, tags: () => chance.some(['x', 'y']) }) })),
      ports: () => ports(chance),
      free,
      mixed: () => ({ ...free(), ...chance.members({ known: letter, names: () => chance.some(letters) }) }),
    },
    0.35,
  )
}

function ports(chance: Chance): JsonObject[] {
  return chance.some([9, 10, 80]).flatMap(port => {
    const protocols = chance.flip(0.2) ? ['TCP', 'UDP'] : [chance.pick([undefined, 'TCP', 'UDP'])]
    return protocols.map(protocol => ({
      port,
      ...(protocol ? { protocol } : {}),
      ...chance.members({ name: () => `p${port}-${(protocol ?? 'TCP').toLowerCase()}` }),
    }))
  })
}

export function metadata(chance: Chance): JsonObject {
  const letter = () => chance.pick(letters)
  return chance.members(
    {
      labels: () => Object.fromEntries(chance.some(letters).map(key => [key, letter()])),
      annotations: () => Object.fromEntries(chance.some(letters).map(key => [key, letter()])),
      finalizers: () => chance.some(['test/a', 'test/b']),
      ownerReferences: () =>
        chance.some(letters).map(uid => ({ apiVersion: 'v1', kind: 'ConfigMap', name: letter(), uid })),
    },
    0.3,
  )
}

export function deploymentSpec(chance: Chance): JsonObject {
  return {
    selector: { matchLabels: { app: 'x' } },
    template: {
      metadata: { labels: { app: 'x', ...chance.members({ a: () => chance.pick(letters) }) } },
      spec: {
        containers: [chance.flip(0.3) ? ['b', 'a'] : ['a'], chance.some(['c'])]
          .flat()
          .map(name => container(chance, name)),
        ...chance.members(
          {
            tolerations: () => chance.some(letters).map(key => ({ key, operator: 'Exists' })),
            nodeSelector: () => ({ zone: chance.pick(letters) }),
            imagePullSecrets: () => chance.some(letters).map(name => ({ name })),
            volumes: () => chance.some(['v', 'w']).map(name => ({ name, emptyDir: {} })),
            terminationGracePeriodSeconds: () => chance.below(3),
            securityContext: () => chance.members({ runAsUser: () => chance.below(3) }),
          },
          0.25,
        ),
      },
    },
    ...chance.members(
      {
        replicas: () => chance.below(3),
        minReadySeconds: () => chance.below(2),
        strategy: () =>
          chance.flip()
            ? { type: 'Recreate', rollingUpdate: null }
            : {
                type: 'RollingUpdate',
                rollingUpdate: chance.members({ maxSurge: () => chance.pick([1, '10%']) }),
              },
      },
      0.3,
    ),
  }
}

function container(chance: Chance, name: string): JsonObject {
  return {
    name,
    image: chance.pick(['one', 'two']),
    ...chance.members(
      {
        env: () => chance.some(letters).map(key => ({ name: key, value: chance.pick(letters) })),
        ports: () =>
          chance.some([80, 81, 9]).map(containerPort => ({
            containerPort,
            ...chance.members({ protocol: () => 'TCP', name: () => `p${containerPort}` }),
          })),
        args: () => chance.some(letters),
        resources: () => ({
          limits: chance.members({ cpu: () => chance.pick(['1', '2']), memory: () => '1Gi' }),
        }),
        imagePullPolicy: () => chance.pick(['Always', 'Never']),
      },
      0.35,
    ),
  }
}

export function serviceSpec(chance: Chance): JsonObject {
  return chance.members(
    {
      ports: () => {
        const list = ports(chance).map(port => ({
          ...port,
          name: `p${port.port}-${String(port.protocol ?? 'TCP').toLowerCase()}`,
        }))
        return list.length > 0 ? list : [{ port: 80, name: 'p80-tcp' }]
      },
      selector: () => Object.fromEntries(chance.some(letters).map(key => [key, chance.pick(letters)])),
      sessionAffinity: () => chance.pick(['None', 'ClientIP']),
      publishNotReadyAddresses: () => chance.flip(),
    },
    0.6,
  )
}
