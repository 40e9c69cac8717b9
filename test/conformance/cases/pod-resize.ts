// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

const amounts = { cpu: '1', memory: '1Gi' }
const guaranteed = {
  containers: [
    { name: 'main', image: 'registry.example/app:1', resources: { requests: amounts, limits: amounts } },
  ],
}
const resources = (requests: object, limits: object = requests) => ({
  spec: { containers: [{ name: 'main', resources: { requests, limits } }] },
})

async function resize({ http, core }: Fixture, patch: object) {
  await http.post(core('pods'), pod('p', guaranteed))
  return http.strategicPatch(core('pods/p/resize'), patch)
}

async function rejection(fixture: Fixture, patch: object): Promise<string> {
  const rejected = await resize(fixture, patch)
  assert.equal(rejected.status, 422)
  return rejected.text('message').replace('Pod "p" is invalid: ', '')
}

export const podResize = chapter('resizing pods', {
  'changes the CPU and memory of a pod': async fixture => {
    const resized = await resize(fixture, resources({ cpu: '2' }))
    assert.equal(resized.status, 200)
    assert.deepEqual(resized.at('spec.containers.0.resources.requests'), { cpu: '2', memory: '1Gi' })
    assert.equal(resized.at('metadata.generation'), 2)
    const owners = resized.at('metadata.managedFields') as { subresource?: string }[]
    assert.ok(owners.some(({ subresource }) => subresource === 'resize'))
  },
  'ignores other changes': async fixture => {
    const { http, core } = fixture
    const patch = {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'main', image: 'other' }] },
    }
    const resized = await resize(fixture, patch)
    assert.equal(resized.status, 200)
    assert.equal(resized.at('metadata.labels'), undefined)
    assert.equal((await http.get(core('pods/p'))).at('spec.containers.0.image'), 'registry.example/app:1')
  },
  'rejects a change of the QoS class': async fixture => {
    assert.equal(
      await rejection(fixture, resources({ cpu: '500m' }, { cpu: '1' })),
      'spec: Invalid value: "Guaranteed": Pod QOS Class may not change as a result of resizing',
    )
  },
  'rejects new extended resources': async fixture => {
    assert.equal(
      await rejection(fixture, resources({ 'example.com/gpu': '1' })),
      'spec: Forbidden: only cpu and memory resources are mutable',
    )
  },
  'rejects new and removed containers': async fixture => {
    assert.match(
      await rejection(fixture, { spec: { containers: [{ name: 'new', image: 'x' }] } }),
      /spec\.containers: Forbidden: containers may not be added or removed on resize\]$/,
    )
  },
  'rejects the removal of requests and limits': async fixture => {
    assert.match(
      await rejection(fixture, resources({ cpu: null, memory: null })),
      /spec\.containers\[0\]\.resources\.requests: Forbidden: resource requests cannot be removed, spec\.containers\[0\]\.resources\.limits: Forbidden: resource limits cannot be removed\]$/,
    )
  },
})
