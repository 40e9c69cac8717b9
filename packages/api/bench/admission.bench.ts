// SPDX-License-Identifier: Apache-2.0

// Measures admission of a PodCliqueSet by its number of cliques: `npm run bench -- admission`. The last column is the
// time per clique. It converges to a constant if every rule is linear.

import {
  admit,
  decodePodCliqueSet,
  defaultPodCliqueSet,
  emptyCluster,
  validateNewPodCliqueSet,
} from '../src/admission/index.ts'
import { defaultConfiguration } from '../src/configuration/index.ts'

const context = { configuration: defaultConfiguration(), cluster: emptyCluster }

/** Cliques in groups of five, each waiting for the previous one, with pods of realistic size. */
function manifest(count: number): object {
  const cliques = Array.from({ length: count }, (_, index) => ({
    name: `c${index}`,
    labels: { 'app.example.com/tier': 'model' },
    spec: {
      roleName: `role-${index}`,
      replicas: 4,
      ...(index > 0 && { startsAfter: [`c${index - 1}`] }),
      podSpec: {
        containers: [
          {
            name: 'server',
            image: 'registry.example.com/server:1.0',
            args: ['--port', '8000', '--model', 'example'],
            env: Array.from({ length: 10 }, (_unused, n) => ({ name: `SETTING_${n}`, value: `${n}` })),
            ports: [{ containerPort: 8000 }, { containerPort: 9000, name: 'metrics' }],
            resources: { requests: { cpu: '2', memory: '8Gi' }, limits: { 'nvidia.com/gpu': '8' } },
            volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
          },
        ],
        volumes: [{ name: 'cache', emptyDir: { sizeLimit: '100Gi' } }],
        tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }],
      },
    },
  }))
  const groups = Array.from({ length: Math.floor(count / 5) }, (_, index) => ({
    name: `g${index}`,
    cliqueNames: cliques.slice(index * 5, index * 5 + 5).map(clique => clique.name),
    replicas: 2,
  }))
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'bench', namespace: 'default' },
    spec: {
      replicas: 1,
      template: { cliqueStartupType: 'CliqueStartupTypeExplicit', cliques, podCliqueScalingGroups: groups },
    },
  }
}

/** Median of several runs, in milliseconds. */
function measure(work: () => unknown): number {
  for (let warmUp = 0; warmUp < 3; warmUp++) work()
  const times = Array.from({ length: 15 }, () => {
    const started = performance.now()
    work()
    return performance.now() - started
  })
  return times.sort((a, b) => a - b)[7]!
}

function decoded(object: object): NonNullable<ReturnType<typeof defaultPodCliqueSet>> {
  const result = decodePodCliqueSet(object)
  if (!result.ok) throw new Error(result.message)
  return defaultPodCliqueSet(result.value)
}

const rows = [1, 10, 100, 1000].map(count => {
  const object = manifest(count)
  const set = decoded(object)
  const stored = admit({ operation: 'CREATE', kind: 'PodCliqueSet', object }, context)
  if (!stored.allowed) throw new Error(stored.message)
  const changed = { ...set, spec: { ...set.spec, replicas: 2 } }
  const create = measure(() => admit({ operation: 'CREATE', kind: 'PodCliqueSet', object }, context))
  return {
    cliques: count,
    'decode + default ms': measure(() => decoded(object)).toFixed(3),
    'rules ms': measure(() => validateNewPodCliqueSet(set, context)).toFixed(3),
    'whole create ms': create.toFixed(3),
    'whole update ms': measure(() =>
      admit(
        { operation: 'UPDATE', kind: 'PodCliqueSet', object: changed, oldObject: stored.object },
        context,
      ),
    ).toFixed(3),
    'create µs per clique': ((create * 1000) / count).toFixed(1),
  }
})
console.table(rows)
