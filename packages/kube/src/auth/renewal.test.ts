// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createClient, defineResource, isKubeError } from '../client/index.ts'
import { FakeClock } from '../clock/index.ts'
import { type LocalhostPki, newPki } from '../testing/localhost-pki.ts'
import { inClusterConfig } from './in-cluster.ts'
import { filePollMs } from './polled-file.ts'

const nodes = defineResource({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })

describe('in-cluster config whose service account is renewed', () => {
  const directory = mkdtempSync(join(tmpdir(), 'service-account-'))
  const sockets = new Set<Socket>()
  let server: Server
  let accepted: string
  let first: LocalhostPki

  before(async () => {
    first = newPki()
    server = createServer(first.server, (request, response) => {
      const known = request.headers.authorization === `Bearer ${accepted}`
      response.statusCode = known ? 200 : 401
      response.end(
        JSON.stringify(known ? { metadata: { name: 'n' } } : { kind: 'Status', reason: 'Unauthorized' }),
      )
    })
    server.on('secureConnection', socket => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
    rmSync(directory, { recursive: true })
  })

  const give = (name: string, text: string) => writeFileSync(join(directory, name), text)

  it('uses the new token and the new CA', async () => {
    const clock = new FakeClock()
    accepted = 'one'
    give('token', 'one')
    give('ca.crt', first.authority.cert)
    const config = inClusterConfig({
      directory,
      clock,
      environment: {
        KUBERNETES_SERVICE_HOST: 'localhost',
        KUBERNETES_SERVICE_PORT: String((server.address() as AddressInfo).port),
      },
    })
    const client = createClient(config)
    await client.get(nodes, { name: 'n' })

    // The old token still works for a while. The client uses the new one after it reads the file again.
    give('token', 'two')
    await client.get(nodes, { name: 'n' })
    await clock.advance(filePollMs)
    accepted = 'two'
    await client.get(nodes, { name: 'n' })

    // The server rejects the token before the file is due, so the client reads the file at once.
    give('token', 'three')
    accepted = 'three'
    await client.get(nodes, { name: 'n' })

    // The server gets a certificate of another authority and closes its connections.
    const second = newPki()
    server.setSecureContext(second.server)
    for (const socket of sockets) socket.destroy()
    const distrusted = await client
      .get(nodes, { name: 'n' }, { attempts: 1 })
      .catch((error: unknown) => error)
    assert.ok(isKubeError(distrusted, 'Network'), String(distrusted))
    give('ca.crt', second.authority.cert)
    await clock.advance(filePollMs)
    await client.get(nodes, { name: 'n' })
    await client.close()
  })
})
