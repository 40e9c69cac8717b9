// SPDX-License-Identifier: Apache-2.0

// Mistakes in pods that admission accepts, and that Kubernetes reports when the operator creates the pods.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '../../testing/grove-call.ts'

const setOf = (pod: string) => `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: llm}
spec:
  replicas: 1
  template:
    cliques:
      - name: work
        spec:
          roleName: work
          replicas: 1
          podSpec:
            ${pod}
`

const container = (fields: string) => `containers: [{name: main, image: registry.example/work:1, ${fields}}]`

const table: Record<string, [pod: string, hints: string[]]> = {
  'a whole number of GPUs, written as a number': [container('resources: {limits: {nvidia.com/gpu: 8}}'), []],
  'a part of a GPU': [
    container('resources: {limits: {nvidia.com/gpu: 0.5}}'),
    [
      'containers[0].resources.limits[nvidia.com/gpu]: Kubernetes rejects the pods: Invalid value: "500m": must be an integer',
    ],
  ],
  'a request above its limit': [
    container('resources: {limits: {cpu: 1}, requests: {cpu: 2}}'),
    [
      'containers[0].resources.requests: Kubernetes rejects the pods: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ],
  ],
  'a mount of a volume that does not exist': [
    container('volumeMounts: [{name: models, mountPath: /models}]'),
    ['containers[0].volumeMounts[0].name: Kubernetes rejects the pods: Not found: "models"'],
  ],
  'no image': [
    'containers: [{name: main}]',
    ['containers[0].image: Kubernetes rejects the pods: Required value'],
  ],
}

describe('a mistake in a pod causes a hint, with its line', () => {
  for (const [title, [pod, hints]] of Object.entries(table))
    it(title, async () => {
      const { status, stdout } = await call(['validate', '-f', '-'], { input: setOf(pod) })
      const lines = hints.map(hint => `    hint: spec.template.cliques[0].spec.podSpec.${hint}  (line 13)\n`)
      assert.equal(stdout, `✓ PodCliqueSet llm\n${lines.join('')}1 accepted\n`)
      assert.equal(status, 0)
    })
})
