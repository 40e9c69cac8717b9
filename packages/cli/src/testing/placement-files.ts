// SPDX-License-Identifier: Apache-2.0

// Clusters and sets for tests of the placement commands, as files that a user could write.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PlacementFiles {
  /** Writes the objects as one file and returns its path. */
  write(name: string, objects: readonly object[] | string): string
  remove(): void
}

export function placementFiles(): PlacementFiles {
  const folder = mkdtempSync(join(tmpdir(), 'grove-placement-'))
  return {
    write(name, objects) {
      const path = join(folder, name)
      const text =
        typeof objects === 'string' ? objects : objects.map(object => JSON.stringify(object)).join('\n---\n')
      writeFileSync(path, text)
      return path
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

export const zoneKey = 'topology.kubernetes.io/zone'
export const rackKey = 'topology.kubernetes.io/rack'
const hostKey = 'kubernetes.io/hostname'

export const fabric = {
  apiVersion: 'grove.io/v1alpha1',
  kind: 'ClusterTopologyBinding',
  metadata: { name: 'fabric' },
  spec: {
    levels: [
      { domain: 'zone', key: zoneKey },
      { domain: 'rack', key: rackKey },
      { domain: 'host', key: hostKey },
    ],
  },
}

/** A node with eight GPUs. Its name is its place: `a1-2` is the second host of rack r1 in zone a. */
export function gpuNode(name: string, spec: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { [zoneKey]: name[0], [rackKey]: `r${name[1]}`, [hostKey]: name } },
    spec,
    status: { allocatable: { cpu: '16', memory: '64Gi', pods: '110', 'nvidia.com/gpu': '8' } },
  }
}

export interface SetOptions {
  readonly name?: string
  readonly namespace?: string
  readonly replicas?: number
  readonly required?: string
  readonly preferred?: string
  /** Pods of the clique `worker`. */
  readonly workers?: number
  readonly minAvailable?: number
  readonly gpus?: number
  /** The clique is in a scaling group with so many replicas, one of them in the base gang. */
  readonly scaled?: number
  readonly priorityClassName?: string
  readonly schedulerName?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  /** Every pod has a claim that is generated from this template. */
  readonly claimTemplate?: string
}

export function gpuSet(options: SetOptions = {}): object {
  const { name = 'llm', namespace, replicas = 1, workers = 2, minAvailable = workers, gpus = 4 } = options
  const pack = {
    ...(options.required && { required: options.required }),
    ...(options.preferred && { preferred: options.preferred }),
  }
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name, ...(namespace && { namespace }) },
    spec: {
      replicas,
      template: {
        ...(Object.keys(pack).length > 0 && { topologyConstraint: { topologyName: 'fabric', pack } }),
        ...(options.priorityClassName && { priorityClassName: options.priorityClassName }),
        cliques: [
          {
            name: 'worker',
            spec: {
              roleName: 'worker',
              replicas: workers,
              minAvailable,
              podSpec: {
                ...(options.schedulerName && { schedulerName: options.schedulerName }),
                ...(options.nodeSelector && { nodeSelector: options.nodeSelector }),
                ...(options.claimTemplate && {
                  resourceClaims: [{ name: 'device', resourceClaimTemplateName: options.claimTemplate }],
                }),
                containers: [
                  {
                    name: 'main',
                    image: 'registry.example/main:1',
                    resources: { limits: { 'nvidia.com/gpu': String(gpus) } },
                  },
                ],
              },
            },
          },
        ],
        ...(options.scaled && {
          podCliqueScalingGroups: [
            { name: 'sg', cliqueNames: ['worker'], replicas: options.scaled, minAvailable: 1 },
          ],
        }),
      },
    },
  }
}

/** A pod that holds GPUs of a node, or waits for one. */
export function gpuPod(
  name: string,
  gpus: number,
  node?: string,
  more: { labels?: object; spec?: object } = {},
): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', ...(more.labels && { labels: more.labels }) },
    spec: {
      ...(node && { nodeName: node }),
      containers: [{ name: 'main', resources: { limits: { 'nvidia.com/gpu': String(gpus) } } }],
      ...more.spec,
    },
  }
}

/** A PodGang of one group and its pods, which wait unless they have a node. */
export function waitingGang(
  name: string,
  pods: number,
  gpus: number,
  more: { schedulerName?: string; node?: string } = {},
): object[] {
  const { schedulerName = 'grove-scheduler' } = more
  const group = `${name}-worker`
  return [
    {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name, namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { podgroups: [{ name: group, podReferences: [], minReplicas: pods }] },
      status: {
        phase: 'Pending',
        conditions: [
          {
            type: 'Initialized',
            status: 'True',
            reason: 'Test',
            message: '',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    },
    ...Array.from({ length: pods }, (_, index) =>
      gpuPod(`${group}-${index}`, gpus, more.node, {
        labels: {
          'grove.io/podgang': name,
          'grove.io/podclique': group,
          'grove.io/podclique-pod-index': String(index),
        },
        spec: { schedulerName },
      }),
    ),
  ]
}

/** A class of devices, a template for claims of so many of them, and so many devices on each node. */
export function devices(perClaim: number, perNode: Readonly<Record<string, number>>): object[] {
  const apiVersion = 'resource.k8s.io/v1'
  const driver = 'gpu.example.com'
  return [
    {
      apiVersion,
      kind: 'DeviceClass',
      metadata: { name: 'gpu' },
      spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }] },
    },
    {
      apiVersion,
      kind: 'ResourceClaimTemplate',
      metadata: { name: 'devices', namespace: 'default' },
      spec: {
        spec: {
          devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu', count: perClaim } }] },
        },
      },
    },
    ...Object.entries(perNode).map(([nodeName, count]) => ({
      apiVersion,
      kind: 'ResourceSlice',
      metadata: { name: nodeName },
      spec: {
        driver,
        nodeName,
        pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
        devices: Array.from({ length: count }, (_, index) => ({ name: `gpu-${index}` })),
      },
    })),
  ]
}
