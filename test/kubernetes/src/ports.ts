// SPDX-License-Identifier: Apache-2.0

// Free ports on loopback. They are below the range of outgoing connections, so that a component can be restarted on its
// port without a conflict. Other processes can still take a port: callers must expect a collision.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export const loopback = '127.0.0.1'
const lowest = 20_000
const highest = 29_999
const attempts = 500

const given = new Set<number>()

export async function freePorts(
  count: number,
  pick: () => number = () => randomInt(lowest, highest + 1),
): Promise<number[]> {
  const found: number[] = []
  for (let attempt = 0; attempt < attempts && found.length < count; attempt++) {
    const port = pick()
    if (given.has(port)) continue
    given.add(port)
    if (await isFree(port)) found.push(port)
    else given.delete(port)
  }
  if (found.length === count) return found
  releasePorts(found)
  throw new Error(`No ${count} free ports between ${lowest} and ${highest} on ${loopback}`)
}

export function releasePorts(ports: Iterable<number>): void {
  for (const port of ports) given.delete(port)
}

export function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host: loopback, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/**
 * Runs `work` with free ports, and again with others if another process took one meanwhile. After a success, the ports
 * stay reserved until releasePorts.
 */
export async function withFreePorts<T>(
  count: number,
  work: (ports: readonly number[]) => Promise<T>,
  lostOne: (error: unknown) => boolean,
  tries = 4,
): Promise<T> {
  for (let left = tries - 1; ; left--) {
    const ports = await freePorts(count)
    try {
      return await work(ports)
    } catch (error) {
      releasePorts(ports)
      if (left === 0 || !lostOne(error)) throw error
    }
  }
}

/** Error messages of the components when another process has taken their port. */
export function reportsTakenPort(log: string): boolean {
  return /address already in use|EADDRINUSE/i.test(log)
}
