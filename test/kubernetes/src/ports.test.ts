// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { freePorts, isFree, loopback, releasePorts, reportsTakenPort, withFreePorts } from './ports.ts'

test('ports are free, distinct and below the range of outgoing connections', async () => {
  const ports = await freePorts(12)
  assert.equal(new Set(ports).size, 12)
  for (const port of ports) {
    assert.ok(port >= 20_000 && port < 30_000)
    assert.ok(await isFree(port))
  }
  releasePorts(ports)
})

test('skips a port that another process listens on', async () => {
  const server = createServer().listen(0, loopback)
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  const [free] = await freePorts(1)
  releasePorts([free!])
  const picks = [address.port, free!]
  const ports = await freePorts(1, () => picks.shift()!)
  assert.deepEqual(ports, [free])
  releasePorts(ports)
  server.close()
})

test('does not return a port twice until it is released', async () => {
  const [port] = await freePorts(1)
  await assert.rejects(
    freePorts(1, () => port!),
    /No 1 free ports/,
  )
  releasePorts([port!])
  assert.deepEqual(await freePorts(1, () => port!), [port])
  releasePorts([port!])
})

test('tries other ports if another process takes one', async () => {
  const lost = new Error('bind: address already in use')
  const seen: number[] = []
  const result = await withFreePorts(
    1,
    async ([port]) => {
      seen.push(port!)
      if (seen.length < 3) throw lost
      return port
    },
    error => error === lost,
  )
  assert.equal(seen.length, 3)
  assert.equal(result, seen[2])
  releasePorts(seen)
})

test('does not retry other failures, or too many taken ports', async () => {
  let calls = 0
  const fail = async () => {
    calls++
    throw new Error(`failure ${calls}`)
  }
  await assert.rejects(
    withFreePorts(1, fail, () => false),
    /failure 1/,
  )
  await assert.rejects(
    withFreePorts(1, fail, () => true, 2),
    /failure 3/,
  )
})

test('recognises the error messages of a taken port', () => {
  assert.ok(reportsTakenPort('listen tcp 127.0.0.1:20001: bind: address already in use'))
  assert.ok(!reportsTakenPort('connection refused'))
})
