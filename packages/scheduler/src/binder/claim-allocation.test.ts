// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import {
  allocated,
  deviceClass,
  deviceRequest,
  driver,
  resourceClaim,
  withClaims,
} from '../testing/device-objects.ts'
import { pod } from '../testing/objects.ts'
import { allocationOf, hasDevices, unusedClaims } from './claim-allocation.ts'

const device = { request: 'gpu', driver, pool: 'a', device: 'gpu-0' }

test('an allocation has the devices, the node, and the configuration of classes and claim', () => {
  const opaque = (value: string) => ({ opaque: { driver, parameters: { value } } })
  const claim = resourceClaim('x', [deviceRequest('gpu'), deviceRequest('other', 1, [], 'second')])
  claim.spec!.devices!.config = [{ requests: ['gpu'], ...opaque('claim') }]
  const gpu = { ...deviceClass('gpu'), spec: { config: [opaque('class')] } }
  deepEqual(
    allocationOf(claim, [device], 'a', name => (name === 'gpu' ? gpu : undefined)),
    {
      devices: {
        results: [device],
        config: [
          { source: 'FromClass', requests: ['gpu'], ...opaque('class') },
          { source: 'FromClaim', requests: ['gpu'], ...opaque('claim') },
        ],
      },
      nodeSelector: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
      },
    },
  )
  deepEqual(allocationOf({}, [device], 'a', () => undefined).devices, { results: [device] })
})

test('allocations are compared by their devices, in any order', () => {
  const other = { ...device, device: 'gpu-1' }
  const { allocation } = allocated('a', ['gpu-1', 'gpu-0'])
  equal(hasDevices(allocation!, [device, other]), true)
  equal(hasDevices(allocation!, [device]), false)
})

test('only claims that no other pod has reserved are unused', () => {
  const waiting = [withClaims(pod('p', {}), 'own'), withClaims(pod('q', {}), 'both', 'shared', 'free')]
  const claims = new Map(
    [
      resourceClaim('own', [], allocated('a', ['gpu-0'], ['p'])),
      resourceClaim('both', [], allocated('a', ['gpu-1'], ['p', 'q'])),
      resourceClaim('shared', [], allocated('a', ['gpu-2'], ['q', 'running'])),
      resourceClaim('free', []),
    ].map(claim => [claim.metadata.name, claim]),
  )
  deepEqual(
    unusedClaims(waiting, ({ name }) => claims.get(name)).map(({ metadata }) => metadata.name),
    ['own', 'both'],
  )
})
