// SPDX-License-Identifier: Apache-2.0

// Measures the canonical form of a PodCliqueSet, its hash and the hash of the Go-based operator: `node
// packages/api/bench/revision.bench.ts`. The time per clique should not depend on the number of cliques.
import { canonicalSetTemplate } from '../src/revision/canonical.ts'
import { generationHash } from '../src/revision/hash.ts'
import { impact } from '../src/revision/impact.ts'
import { legacyGenerationHash } from '../src/revision/legacy.ts'

const sizes = [1, 10, 100, 1000]
const rounds = 25

/** A realistic role: an engine with probes, variables, devices and volumes, and a sidecar. */
function clique(index: number) {
  const variables = Array.from({ length: 20 }, (_, number) => ({
    name: `VARIABLE_${number}`,
    value: `value ${number}`,
  }))
  const probe = { httpGet: { path: '/health', port: 8000 }, periodSeconds: 5, failureThreshold: 60 }
  return {
    name: `role-${index}`,
    labels: { 'app.kubernetes.io/part-of': 'llm', role: `role-${index}` },
    spec: {
      roleName: `role-${index}`,
      replicas: 4,
      podSpec: {
        terminationGracePeriodSeconds: 60,
        tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
        containers: [
          {
            name: 'engine',
            image: 'registry.example/engine:1.2',
            args: ['--model', 'llm-70b', '--tensor-parallel-size', '8'],
            env: variables,
            ports: [
              { containerPort: 9000, name: 'metrics' },
              { containerPort: 8000, name: 'http' },
            ],
            resources: { limits: { cpu: '32', memory: '512Gi', 'nvidia.com/gpu': '8' } },
            startupProbe: probe,
            readinessProbe: probe,
            volumeMounts: [
              { name: 'shm', mountPath: '/dev/shm' },
              { name: 'cache', mountPath: '/cache' },
            ],
          },
          { name: 'proxy', image: 'registry.example/proxy:3', resources: { requests: { cpu: '100m' } } },
        ],
        volumes: [
          { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '64Gi' } },
          { name: 'cache', persistentVolumeClaim: { claimName: 'cache' } },
        ],
      },
    },
  }
}

/** Milliseconds of one call: the fastest round, which other processes disturb least, and the median. */
function measure(size: number, call: () => unknown): { fastest: number; median: number } {
  const calls = Math.max(1, Math.round(100 / size))
  const times = Array.from({ length: rounds }, () => {
    const started = performance.now()
    for (let count = 0; count < calls; count++) call()
    return (performance.now() - started) / calls
  }).sort((a, b) => a - b)
  return { fastest: times[0]!, median: times[rounds >> 1]! }
}

function row(size: number) {
  const spec = {
    replicas: 1,
    template: { cliques: Array.from({ length: size }, (_, index) => clique(index)) },
  }
  const hash = measure(size, () => generationHash(spec))
  return {
    cliques: size,
    'canonical form (ms)': measure(size, () => canonicalSetTemplate(spec)).fastest.toFixed(3),
    'form and hash (ms)': hash.fastest.toFixed(3),
    'median (ms)': hash.median.toFixed(3),
    'per clique (µs)': ((hash.fastest / size) * 1000).toFixed(1),
    'legacy hash (ms)': measure(size, () => legacyGenerationHash(spec)).fastest.toFixed(3),
    'impact (ms)': measure(size, () => impact({ spec }, { spec })).fastest.toFixed(3),
  }
}

// Warm up first, so that the first row does not include compilation.
for (let round = 0; round < 3; round++) row(10)
console.table(sizes.map(row))
