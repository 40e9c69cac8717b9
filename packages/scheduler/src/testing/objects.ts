// SPDX-License-Identifier: Apache-2.0

// Builders of Kubernetes objects for tests: short to write, complete enough for the core.
import type { ClusterTopologyBinding, Node, Pod, PodGang, PodSpec, Taint } from '@grove/api'

export interface NodeOptions {
  readonly labels?: Record<string, string>
  readonly taints?: Taint[]
  readonly unschedulable?: boolean
}

export const gpu = 'nvidia.com/gpu'

export function node(name: string, allocatable: Record<string, string>, options: NodeOptions = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...options.labels } },
    spec: {
      ...(options.taints ? { taints: options.taints } : {}),
      ...(options.unschedulable ? { unschedulable: true } : {}),
    },
    status: { allocatable: { pods: '110', ...allocatable } },
  }
}

export interface PodOptions {
  readonly node?: string
  readonly gated?: boolean
  readonly terminating?: boolean
  readonly baseGang?: string
  readonly spec?: Partial<PodSpec>
  readonly labels?: Record<string, string>
}

/** A pod of a gang that requests the given amounts. */
export function memberPod(
  gang: string,
  clique: string,
  index: number,
  requests: Record<string, string>,
  options: PodOptions = {},
): Pod {
  const { baseGang } = options
  return pod(`${clique}-${index}`, requests, {
    ...options,
    labels: {
      'grove.io/podgang': gang,
      'grove.io/podclique': clique,
      'grove.io/podclique-pod-index': String(index),
      ...(baseGang ? { 'grove.io/base-podgang': baseGang } : {}),
      ...options.labels,
    },
    spec: { schedulerName: 'grove-scheduler', ...options.spec },
  })
}

export function pod(name: string, requests: Record<string, string>, options: PodOptions = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      labels: options.labels ?? {},
      ...(options.terminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      containers: [{ name: 'main', resources: { requests } }],
      ...(options.node ? { nodeName: options.node } : {}),
      ...(options.gated ? { schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }] } : {}),
      ...options.spec,
    },
  }
}

export interface GroupOptions {
  readonly name: string
  readonly min: number
  readonly required?: string
  readonly preferred?: string
}

export interface GangOptions {
  readonly topology?: string
  readonly required?: string
  readonly preferred?: string
  readonly priorityClassName?: string
  readonly createdAt?: string
  readonly configs?: readonly { name: string; groups: string[]; required?: string; preferred?: string }[]
  readonly notInitialized?: boolean
  readonly annotations?: Readonly<Record<string, string>>
  readonly reuseReservationRef?: { readonly namespace: string; readonly name: string }
  /** Since when the condition Scheduled is False. */
  readonly waitingSince?: string
}

export function podGang(name: string, groups: readonly GroupOptions[], options: GangOptions = {}): PodGang {
  return {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      labels: { 'app.kubernetes.io/part-of': 'set' },
      annotations: {
        ...(options.topology ? { 'grove.io/topology-name': options.topology } : {}),
        ...options.annotations,
      },
      ...(options.createdAt ? { creationTimestamp: options.createdAt } : {}),
    },
    spec: {
      podgroups: groups.map(group => ({
        name: group.name,
        podReferences: [],
        minReplicas: group.min,
        ...constraint(group),
      })),
      ...constraint(options),
      ...(options.configs
        ? {
            topologyConstraintGroupConfigs: options.configs.map(config => ({
              name: config.name,
              podGroupNames: config.groups,
              ...constraint(config),
            })),
          }
        : {}),
      ...(options.priorityClassName ? { priorityClassName: options.priorityClassName } : {}),
      ...(options.reuseReservationRef ? { reuseReservationRef: options.reuseReservationRef } : {}),
    },
    status: {
      phase: 'Pending',
      conditions: [
        {
          type: 'Initialized',
          status: options.notInitialized ? 'False' : 'True',
          reason: 'PodGangPodsCreated',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
        ...(options.waitingSince
          ? [
              {
                type: 'Scheduled',
                status: 'False' as const,
                reason: 'InsufficientCapacity',
                message: '',
                lastTransitionTime: options.waitingSince,
              },
            ]
          : []),
      ],
    },
  }
}

function constraint({ required, preferred }: { readonly required?: string; readonly preferred?: string }) {
  if (!required && !preferred) return {}
  return {
    topologyConstraint: {
      packConstraint: { ...(required ? { required } : {}), ...(preferred ? { preferred } : {}) },
    },
  }
}

export function topologyBinding(
  name: string,
  levels: Readonly<Record<string, string>>,
): ClusterTopologyBinding {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'ClusterTopologyBinding',
    metadata: { name },
    spec: { levels: Object.entries(levels).map(([domain, key]) => ({ domain, key })) },
  }
}
