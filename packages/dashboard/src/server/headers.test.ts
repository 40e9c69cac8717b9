// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAllowedHost } from './headers.ts'

test('serves addresses, localhost and configured names, so that no foreign name can resolve to this server', () => {
  const allowed = new Set(['grove-dashboard.grove-system.svc'])
  for (const host of [
    '127.0.0.1:9450',
    'localhost:80',
    'LOCALHOST',
    '[::1]:9450',
    '10.0.0.7:9450',
    'grove-dashboard.grove-system.svc:9450',
    'Grove-Dashboard.grove-system.svc',
  ])
    assert.ok(isAllowedHost(host, allowed), host)
  for (const host of [
    undefined,
    '',
    'attacker.example:9450',
    'localhost.attacker.example',
    '127.0.0.1.attacker.example',
    'grove-dashboard.grove-system.svc.attacker.example',
    '[::1].attacker.example',
    'localhost:80:80',
    'a b',
  ])
    assert.ok(!isAllowedHost(host, allowed), String(host))
})
