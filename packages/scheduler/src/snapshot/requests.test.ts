// SPDX-License-Identifier: Apache-2.0
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { podRequests } from './requests.ts'

const container = (cpu: string, rest: object = {}) => ({
  name: 'c',
  resources: { requests: { cpu } },
  ...rest,
})

test('adds the requests of all containers and counts the pod itself', () => {
  deepEqual(podRequests({ containers: [container('500m'), container('1')] }), { cpu: 1500, pods: 1 })
})

test('an init container counts only where it needs more than the containers', () => {
  deepEqual(podRequests({ containers: [container('1')], initContainers: [container('3')] }), {
    cpu: 3000,
    pods: 1,
  })
  deepEqual(podRequests({ containers: [container('4')], initContainers: [container('3')] }), {
    cpu: 4000,
    pods: 1,
  })
})

test('a sidecar runs alongside the containers and the init containers after it', () => {
  const sidecar = container('1', { restartPolicy: 'Always' })
  deepEqual(podRequests({ containers: [container('2')], initContainers: [sidecar, container('3')] }), {
    cpu: 4000,
    pods: 1,
  })
  deepEqual(podRequests({ containers: [container('2')], initContainers: [container('3'), sidecar] }), {
    cpu: 3000,
    pods: 1,
  })
})

test('adds the overhead, and takes a limit without a request as the request', () => {
  const spec = {
    containers: [{ name: 'c', resources: { limits: { memory: '1Gi' } } }],
    overhead: { memory: '1Ki' },
  }
  deepEqual(podRequests(spec), { memory: 2 ** 30 + 1024, pods: 1 })
})

test('requests of the pod as a whole replace those of its containers', () => {
  const spec = { containers: [container('4')], resources: { requests: { cpu: '2' } } }
  deepEqual(podRequests(spec), { cpu: 2000, pods: 1 })
})

test('rounds fractions up: a pod never gets less than it requests', () => {
  deepEqual(podRequests({ containers: [container('100u')] }), { cpu: 1, pods: 1 })
})
