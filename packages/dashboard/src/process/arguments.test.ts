// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readArguments } from './arguments.ts'

test('listens on loopback unless an address is given', () => {
  assert.deepEqual(readArguments([]), {
    host: '127.0.0.1',
    port: 9450,
    allowedHosts: [],
    probes: { port: 9451 },
    namespace: undefined,
    logLevel: 'info',
  })
  const args = ['--bind-address=::', '--port=0', '--allowed-hosts=a.example, b.example,', '--log-level=debug']
  const read = readArguments([...args, '--probes-port=1', '--probes-bind-address=127.0.0.1', '--namespace=n'])
  assert.deepEqual(read, {
    host: '::',
    port: 0,
    allowedHosts: ['a.example', 'b.example'],
    probes: { port: 1, host: '127.0.0.1' },
    namespace: 'n',
    logLevel: 'debug',
  })
  assert.equal(readArguments(['-h']), 'help')
})

for (const [argument, message] of [
  ['--port=65536', /--port must be a port, not "65536"/],
  ['--port=x', /--port must be a port, not "x"/],
  ['--bind-address=localhost', /--bind-address must be an IP address, not "localhost"/],
  ['--allowed-hosts=https://a.example', /without scheme and port, not "https:\/\/a.example"/],
  ['--log-level=loud', /--log-level must be one of debug, info, warn, error/],
  ['--unknown', /Unknown option '--unknown'.*see --help/],
] as const)
  test(`rejects ${argument}`, () => {
    assert.throws(() => readArguments([argument]), { message })
  })
