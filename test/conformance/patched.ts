// SPDX-License-Identifier: Apache-2.0

// Objects for the cases about patches.
import assert from 'node:assert/strict'
import { configMap, deployment } from './objects.ts'
import type { Fixture } from './suite.ts'

export async function map(
  { http, core }: Fixture,
  data: Record<string, string> = { a: '1', b: '2' },
): Promise<string> {
  await http.post(core('configmaps'), configMap('m', data))
  return core('configmaps/m')
}

/** A deployment with two containers and a volume, for patches that merge lists. */
export async function workload({ http, group }: Fixture): Promise<string> {
  const template = {
    metadata: { labels: { app: 'd' } },
    spec: {
      containers: [
        {
          name: 'one',
          image: 'i:1',
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
          ports: [{ containerPort: 80 }],
        },
        { name: 'two', image: 'i:2' },
      ],
      volumes: [{ name: 'v', emptyDir: {} }],
      tolerations: [{ key: 'x', operator: 'Exists' }],
    },
  }
  const made = await http.post(group('apps/v1', 'deployments'), deployment('d', { template }))
  assert.equal(made.status, 201)
  return group('apps/v1', 'deployments/d')
}

export const containers = (patch: unknown) => ({ spec: { template: { spec: { containers: patch } } } })
