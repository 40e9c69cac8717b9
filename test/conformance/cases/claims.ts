// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { chapter, type Ground } from '../suite.ts'

const group = 'resource.k8s.io/v1'
const request = { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }
const allocation = (device: string) => ({
  devices: { results: [{ request: 'gpu', driver: 'd.example.com', pool: 'p', device }] },
})
const consumer = (name: string, uid: string) => ({ resource: 'pods', name, uid })

async function claim(ground: Ground) {
  const path = ground.group(group, 'resourceclaims')
  await ground.http.post(path, { metadata: { name: 'c' }, spec: { devices: { requests: [request] } } })
  return {
    path: `${path}/c`,
    status: (status: object) => ground.http.mergePatch(`${path}/c/status`, { status }),
  }
}

export const resourceClaims = chapter('claims of devices', {
  'what is claimed stays': async ground => {
    const { path } = await claim(ground)
    const exactly = { ...request.exactly, count: 2 }
    const refused = await ground.http.mergePatch(path, {
      spec: { devices: { requests: [{ name: 'gpu', exactly }] } },
    })
    assert.equal(refused.status, 422)
    assert.match(refused.text('message'), /is invalid: spec: Invalid value: null: field is immutable$/)
  },
  'a template stays as it is, but for its metadata': async ground => {
    const path = ground.group(group, 'resourceclaimtemplates')
    const spec = { devices: { requests: [request] } }
    await ground.http.post(path, { metadata: { name: 't' }, spec: { spec } })
    const refused = await ground.http.mergePatch(`${path}/t`, { spec: { metadata: { labels: { a: 'b' } } } })
    assert.match(refused.text('message'), /is invalid: spec: Invalid value: .*: field is immutable$/)
    assert.equal(
      (await ground.http.mergePatch(`${path}/t`, { metadata: { labels: { a: 'b' } } })).status,
      200,
    )
  },
  'what is not allocated is not reserved': async ground => {
    const { status } = await claim(ground)
    const refused = await status({ reservedFor: [consumer('p', 'u')] })
    assert.match(
      refused.text('message'),
      /is invalid: status\.reservedFor: Forbidden: may not be specified when `allocated` is not set$/,
    )
  },
  'only what was asked for is allocated': async ground => {
    const { status } = await claim(ground)
    const refused = await status({
      allocation: {
        devices: { results: [{ request: 'nope', driver: 'd.example.com', pool: 'p', device: 'x' }] },
      },
    })
    assert.match(
      refused.text('message'),
      /status\.allocation\.devices\.results\[0\]\.request: Invalid value: "nope": must be the name of a request/,
    )
  },
  'it is allocated, reserved, let go and taken back': async ground => {
    const { status } = await claim(ground)
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
