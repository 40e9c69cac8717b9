// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { chapter, type Fixture } from '../suite.ts'

const group = 'resource.k8s.io/v1'
const request = { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }
const allocation = (device: string) => ({
  devices: { results: [{ request: 'gpu', driver: 'd.example.com', pool: 'p', device }] },
})
const consumer = (name: string, uid: string) => ({ resource: 'pods', name, uid })

async function claim(fixture: Fixture) {
  const path = fixture.group(group, 'resourceclaims')
  await fixture.http.post(path, { metadata: { name: 'c' }, spec: { devices: { requests: [request] } } })
  return {
    path: `${path}/c`,
    status: (status: object) => fixture.http.mergePatch(`${path}/c/status`, { status }),
  }
}

export const resourceClaims = chapter('resource claims', {
  'the spec of a claim is immutable': async fixture => {
    const { path } = await claim(fixture)
    const exactly = { ...request.exactly, count: 2 }
    const rejected = await fixture.http.mergePatch(path, {
      spec: { devices: { requests: [{ name: 'gpu', exactly }] } },
    })
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /is invalid: spec: Invalid value: null: field is immutable$/)
  },
  'a claim template is immutable except for its metadata': async fixture => {
    const path = fixture.group(group, 'resourceclaimtemplates')
    const spec = { devices: { requests: [request] } }
    await fixture.http.post(path, { metadata: { name: 't' }, spec: { spec } })
    const rejected = await fixture.http.mergePatch(`${path}/t`, {
      spec: { metadata: { labels: { a: 'b' } } },
    })
    assert.match(rejected.text('message'), /is invalid: spec: Invalid value: .*: field is immutable$/)
    assert.equal(
      (await fixture.http.mergePatch(`${path}/t`, { metadata: { labels: { a: 'b' } } })).status,
      200,
    )
  },
  'an unallocated claim cannot be reserved': async fixture => {
    const { status } = await claim(fixture)
    const rejected = await status({ reservedFor: [consumer('p', 'u')] })
    assert.match(
      rejected.text('message'),
      /is invalid: status\.reservedFor: Forbidden: may not be specified when `allocated` is not set$/,
    )
  },
  'an allocation contains only requested devices': async fixture => {
    const { status } = await claim(fixture)
    const rejected = await status({
      allocation: {
        devices: { results: [{ request: 'nope', driver: 'd.example.com', pool: 'p', device: 'x' }] },
      },
    })
    assert.match(
      rejected.text('message'),
      /status\.allocation\.devices\.results\[0\]\.request: Invalid value: "nope": must be the name of a request/,
    )
  },
  'a claim is allocated, reserved, released and deallocated': async fixture => {
    const { status } = await claim(fixture)
    assert.equal((await status({ allocation: allocation('gpu-0') })).status, 200)
    assert.equal((await status({ reservedFor: [consumer('p', 'u1')] })).status, 200)
    assert.match(
      (await status({ reservedFor: [consumer('p', 'u1'), consumer('q', 'u1')] })).text('message'),
      /status\.reservedFor\[1\]: Duplicate value: {"resource":"pods","name":"q","uid":"u1"}$/,
    )
    assert.match(
      (await status({ allocation: allocation('gpu-1') })).text('message'),
      /status\.allocation: Invalid value: null: field cannot be modified once set$/,
    )
    assert.equal((await status({ allocation: null })).status, 422)
    assert.equal((await status({ reservedFor: null })).status, 200)
    assert.equal((await status({ allocation: null })).at('status.allocation'), undefined)
  },
})
