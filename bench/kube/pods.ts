// SPDX-License-Identifier: Apache-2.0

// The pods of the benchmarks, with the size and shape of an inference workload.
import { defineResource, type KubeObject } from '@grove/kube'

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string
    readonly schedulerName?: string
    readonly schedulingGates?: readonly { readonly name: string }[]
    readonly containers: readonly Readonly<Record<string, unknown>>[]
  }
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

export const pods = defineResource<Pod>({
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  namespaced: true,
})

/** Pod number `index` of a large workload; 2.5 KB as JSON when sent, about 5 KB as returned by the server. */
export function podOf(namespace: string, index: number, name = `disaggregated-0-decode-${index}`): Pod {
  const owner = `disaggregated-${Math.floor(index / 20)}-decode`
  const variables = Array.from({ length: 14 }, (_, i) => ({
    name: `WORKLOAD_SETTING_${i}`,
    value: `value-${i}-of-the-workload-${index % 7}`,
  }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: {
        'app.kubernetes.io/managed-by': 'bench',
        'app.kubernetes.io/part-of': 'disaggregated',
        'example.com/clique': owner,
        'example.com/role': 'decode',
        'example.com/replica': String(index % 20),
        'example.com/template-hash': '7d4b9c6f58',
      },
      annotations: { 'example.com/topology': 'zone-a/block-3/rack-12' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: owner,
          uid: `00000000-0000-4000-8000-${String(Math.floor(index / 20)).padStart(12, '0')}`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      schedulerName: 'not-installed',
      schedulingGates: [{ name: 'example.com/gang' }],
      containers: [
        {
          name: 'engine',
          image: 'registry.example.com/inference/engine:2026.11',
          command: ['/bin/sh', '-c', 'exec engine serve --role decode --tensor-parallel 8'],
          env: variables,
          ports: [{ name: 'http', containerPort: 8080 }],
          resources: { requests: { cpu: '8', memory: '64Gi' }, limits: { memory: '64Gi' } },
          volumeMounts: [{ name: 'models', mountPath: '/models' }],
          readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 5 },
        },
        {
          name: 'sidecar',
          image: 'registry.example.com/inference/metrics:1.4',
          env: variables.slice(0, 4),
        },
      ],
      volumes: [{ name: 'models', emptyDir: {} }],
      tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
    } as Pod['spec'],
  }
}
