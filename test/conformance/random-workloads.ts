// SPDX-License-Identifier: Apache-2.0

// More of what random requests are about: kinds that controllers look after, with their statuses and scales.
import { deployment } from './objects.ts'
import { chance, container, type Kind, metadata, pick, plainKinds, words } from './random-kinds.ts'

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }
const budgetCounts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }
const claimOf = (count: number | undefined) => ({
  devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com', count } }] },
})

const workloadKinds: readonly Kind[] = [
  {
    path: 'apis/apps/v1/deployments',
    kind: 'Deployment',
    subresources: ['status', 'scale'],
    make: (name, random) => ({
      ...deployment(name, { replicas: pick(random, [0, 1, undefined]) }),
      metadata: metadata(name, random),
    }),
    patch: random =>
      pick<object>(random, [
        { spec: { replicas: pick(random, [0, 2, 3, -1, null]) } },
        { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } },
        { spec: { paused: pick(random, [true, false]) } },
        { spec: { template: { spec: { containers: [container(random)] } } } },
        { status: { replicas: pick(random, [0, 2]), observedGeneration: 1 } },
      ]),
  },
  {
    path: 'apis/autoscaling/v2/horizontalpodautoscalers',
    kind: 'HorizontalPodAutoscaler',
    subresources: ['status'],
    make: (name, random) => ({
      metadata: metadata(name, random),
      spec: {
        scaleTargetRef: target,
        maxReplicas: pick(random, [3, 1, 3, 0]),
        ...(chance(random, 40) && { minReplicas: pick(random, [1, 2, 0]) }),
        ...(chance(random, 30) && {
          metrics: [
            {
              type: 'Resource',
              resource: {
                name: 'cpu',
                target: { type: 'Utilization', averageUtilization: pick(random, [50, 0]) },
              },
            },
          ],
        }),
        ...(chance(random, 30) && {
          behavior: { scaleUp: { stabilizationWindowSeconds: pick(random, [0, 3, -1]) } },
        }),
      },
    }),
    patch: random =>
      pick<object>(random, [
        { spec: { maxReplicas: pick(random, [1, 5, 0, null]) } },
        { spec: { minReplicas: pick(random, [1, 2, null]) } },
        { spec: { metrics: null } },
        { spec: { behavior: pick<unknown>(random, [null, { scaleDown: { selectPolicy: 'Min' } }]) } },
        { status: { currentReplicas: pick(random, [1, -1]), desiredReplicas: 2 } },
      ]),
  },
  {
    path: 'apis/policy/v1/poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    subresources: ['status'],
    make: (name, random) => ({
      metadata: metadata(name, random),
      spec: {
        ...pick<object>(random, [
          { minAvailable: 1 },
          { maxUnavailable: '50%' },
          { minAvailable: '110%' },
          {},
        ]),
        selector: { matchLabels: { app: pick(random, words) } },
      },
    }),
    patch: random =>
      pick<object>(random, [
        { spec: { minAvailable: pick(random, [1, 2, null, -1]) } },
        { spec: { maxUnavailable: pick(random, [1, null]) } },
        { spec: { selector: { matchLabels: { tier: 'x' } } } },
        { status: { ...budgetCounts, disruptionsAllowed: pick(random, [0, 1, -1]) } },
      ]),
  },
  {
    path: 'apis/batch/v1/jobs',
    kind: 'Job',
    make: (name, random) => ({
      metadata: metadata(name, random),
      spec: {
        template: {
          spec: {
            restartPolicy: pick(random, ['Never', 'OnFailure', 'Never', 'Always']),
            containers: [container(random)],
          },
        },
        ...(chance(random, 40) && { suspend: pick(random, [true, false]) }),
        ...(chance(random, 30) && { parallelism: pick(random, [0, 1, 2]) }),
      },
    }),
    patch: random => ({
      spec: pick<object>(random, [
        { suspend: pick(random, [true, false]) },
        { parallelism: pick(random, [0, 2]) },
        { backoffLimit: pick(random, [1, 6]) },
        { completions: 3 },
      ]),
    }),
  },
  {
    path: 'apis/resource.k8s.io/v1/resourceclaimtemplates',
    kind: 'ResourceClaimTemplate',
    make: (name, random) => ({
      metadata: metadata(name, random),
      spec: { spec: claimOf(pick(random, [1, undefined, 2, -1])) },
    }),
    patch: random => ({ spec: { spec: claimOf(pick(random, [1, 2])) } }),
  },
]

export const kinds: readonly Kind[] = [...plainKinds, ...workloadKinds]
