// SPDX-License-Identifier: Apache-2.0

// Concise builders of sets and pods for tests.
import {
  annotation,
  type CliqueStartupType,
  type CliqueTemplate,
  label,
  type Pod,
  type PodCliqueSetTemplate,
  podSchedulingGate,
  type ScalingGroupTemplate,
} from '@grove/api'
import type { StoredSet } from '../layout/stored.ts'

export interface CliqueShape {
  readonly replicas?: number
  readonly minAvailable?: number
  readonly startsAfter?: string[]
}

export function clique(
  name: string,
  { replicas = 1, minAvailable = replicas, startsAfter }: CliqueShape = {},
): CliqueTemplate {
  return {
    name,
    spec: {
      roleName: name,
      replicas,
      minAvailable,
      ...(startsAfter && { startsAfter }),
      podSpec: { containers: [{ name: 'main', image: 'registry.example/main:1' }] },
    },
  }
}

export function group(
  name: string,
  cliqueNames: string[],
  replicas = 1,
  minAvailable = 1,
): ScalingGroupTemplate {
  return { name, cliqueNames, replicas, minAvailable }
}

export interface SetShape {
  readonly name?: string
  readonly replicas?: number
  readonly startup?: CliqueStartupType
  readonly cliques: CliqueTemplate[]
  readonly groups?: ScalingGroupTemplate[]
  readonly template?: Partial<PodCliqueSetTemplate>
}

export function sampleSet(shape: SetShape): StoredSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: {
      name: shape.name ?? 'w',
      namespace: 'serving',
      uid: 'set-uid',
      resourceVersion: '1',
      generation: 1,
    },
    spec: {
      replicas: shape.replicas ?? 1,
      template: {
        cliqueStartupType: shape.startup ?? 'CliqueStartupTypeAnyOrder',
        cliques: shape.cliques,
        ...(shape.groups && { podCliqueScalingGroups: shape.groups }),
        ...shape.template,
      },
    },
  }
}

export interface PodShape {
  readonly index?: number
  /** Defaults to the hostname of the index. */
  readonly hostname?: string
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
  readonly ready?: boolean
  readonly scheduled?: boolean
  /** The message of a scheduler that cannot place the pod. */
  readonly unschedulable?: string
  readonly node?: string
  readonly gated?: boolean
  readonly hash?: string
  readonly created?: string
  readonly terminating?: boolean
  readonly exitCode?: number
  /** The exit code of the last run, after which the container is not restarted. */
  readonly ended?: boolean
  readonly startedNotReady?: boolean
  /** The number of consecutive failures of earlier pods with this index. */
  readonly failures?: number | string
  /** The failure reason. */
  readonly reason?: string
  readonly labels?: Record<string, string>
}

export function samplePod(name: string, shape: PodShape = {}): Pod {
  const { index = 0, phase = 'Running', ready = phase === 'Running', hash = 'new' } = shape
  const scheduled = shape.scheduled ?? phase === 'Running'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'serving',
      uid: `${name}-uid`,
      creationTimestamp: shape.created ?? '2030-01-01T00:00:00Z',
      ...(shape.terminating && { deletionTimestamp: '2030-01-01T01:00:00Z' }),
      ...(shape.failures !== undefined && {
        annotations: { [annotation.consecutiveFailures]: String(shape.failures) },
      }),
      labels: { [label.podIndex]: String(index), [label.podTemplateHash]: hash, ...shape.labels },
    },
    spec: {
      containers: [],
      hostname: shape.hostname ?? `c-${index}`,
      ...((shape.node ?? scheduled) && { nodeName: shape.node ?? 'node-1' }),
      ...(shape.gated && { schedulingGates: [{ name: podSchedulingGate }] }),
    },
    status: {
      phase,
      ...(shape.reason && { reason: shape.reason }),
      conditions: [
        { type: 'Ready', status: ready ? 'True' : 'False' },
        {
          type: 'PodScheduled',
          status: scheduled ? 'True' : 'False',
          ...(shape.gated && { reason: 'SchedulingGated' }),
          ...(shape.unschedulable !== undefined && {
            reason: 'Unschedulable',
            message: shape.unschedulable,
          }),
        },
      ],
      ...((shape.exitCode !== undefined || shape.startedNotReady) && {
        containerStatuses: [
          {
            name: 'main',
            image: '',
            imageID: '',
            restartCount: 0,
            ready: false,
            started: shape.startedNotReady ?? false,
            ...(shape.exitCode !== undefined && {
              [shape.ended ? 'state' : 'lastState']: { terminated: { exitCode: shape.exitCode } },
            }),
          },
        ],
      }),
    },
  }
}
