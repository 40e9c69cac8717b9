// SPDX-License-Identifier: Apache-2.0

// A few kinds for random requests, with valid and invalid values.
import type { Random } from '@grove/cluster'
import { deployment, widgetDefinition } from './objects.ts'
import type { Fixture } from './suite.ts'

export const pick = <T>(random: Random, values: readonly T[]): T => values[random.integer(values.length)]!
export const chance = (random: Random, percent: number) => random.integer(100) < percent
export const names = ['a', 'b', 'c', 'd']
const texts = ['x', 'y', 'z', '']

const id = 'random'
const widgetGroup = `${id}.example.com`

/** The custom resource among them. */
export const randomDefinition = widgetDefinition({ id } as Fixture)

export interface Kind {
  readonly path: string
  readonly kind: string
  readonly isCustom?: boolean
  readonly subresources?: readonly string[]
  make(name: string, random: Random): object
  patch(random: Random): object
}

function metadata(name: string, random: Random): object {
  return {
    name,
    ...(chance(random, 40) && { labels: { [pick(random, ['app', 'tier'])]: pick(random, texts) } }),
    ...(chance(random, 20) && { annotations: { note: pick(random, texts) } }),
    ...(chance(random, 15) && { finalizers: [pick(random, ['example.com/one', 'example.com/two'])] }),
  }
}

export function metadataPatch(random: Random): object {
  return pick(random, [
    { labels: { app: pick(random, [...texts, null]) } },
    { labels: null },
    { annotations: { note: pick(random, [...texts, null]) } },
    { finalizers: null },
    { finalizers: ['example.com/two'] },
  ])
}

const container = (random: Random) => ({
  name: pick(random, ['main', 'side']),
  image: pick(random, ['i:1', 'i:2', 'i']),
  ...(chance(random, 30) && { env: [{ name: pick(random, ['A', 'B']), value: pick(random, texts) }] }),
  ...(chance(random, 30) && { ports: [{ containerPort: pick(random, [80, 81]) }] }),
  ...(chance(random, 30) && {
    resources: { limits: { cpu: pick(random, ['1', '1000m', '0.5']), memory: '1Gi' } },
  }),
})

export const kinds: readonly Kind[] = [
  {
    path: 'api/v1/configmaps',
    kind: 'ConfigMap',
    make: (name, random) => ({
      metadata: metadata(name, random),
      data: { [pick(random, ['k', 'l'])]: pick(random, texts) },
    }),
    patch: random => ({
      data: pick(random, [null, { k: pick(random, [...texts, null]) }, { l: pick(random, texts) }, { k: 1 }]),
    }),
  },
  {
    path: 'api/v1/pods',
    kind: 'Pod',
    make: (name, random) => ({
      metadata: metadata(name, random),
      spec: {
        containers: chance(random, 5) ? [] : [container(random)],
        ...(chance(random, 20) && { schedulingGates: [{ name: 'example.com/gate' }] }),
        ...(chance(random, 20) && { nodeName: 'n1' }),
        ...(chance(random, 20) && { terminationGracePeriodSeconds: pick(random, [0, 5]) }),
      },
    }),
    patch: random => ({
      spec: pick<object>(random, [
        { activeDeadlineSeconds: pick(random, [1, 0, null]) },
        { schedulingGates: null },
        { nodeSelector: { zone: 'a' } },
        { terminationGracePeriodSeconds: 7 },
      ]),
    }),
  },
  {
    path: 'api/v1/secrets',
    kind: 'Secret',
    make: (name, random) => ({ metadata: metadata(name, random), stringData: { k: pick(random, texts) } }),
    patch: random => ({
      stringData: { l: pick(random, texts) },
      ...(chance(random, 10) && { type: 'other' }),
    }),
  },
  {
    path: 'apis/apps/v1/deployments',
    kind: 'Deployment',
    make: (name, random) => ({
      ...deployment(name, { replicas: pick(random, [0, 1, undefined]) }),
      metadata: metadata(name, random),
    }),
    patch: random => ({
      spec: pick<object>(random, [
        { replicas: pick(random, [0, 2, 3, -1, null]) },
        { strategy: { type: 'Recreate', rollingUpdate: null } },
        { paused: pick(random, [true, false]) },
        { template: { spec: { containers: [container(random)] } } },
      ]),
    }),
  },
  {
    path: 'apis/coordination.k8s.io/v1/leases',
    kind: 'Lease',
    make: (name, random) => ({
      metadata: metadata(name, random),
      spec: { holderIdentity: pick(random, texts), leaseDurationSeconds: pick(random, [0, 1, 5]) },
    }),
    patch: random => ({ spec: { holderIdentity: pick(random, [...texts, null]) } }),
  },
  {
    path: 'api/v1/services',
    kind: 'Service',
    // No cluster IPs, which servers choose at random, and always the same type.
    make: (name, random) => ({
      metadata: metadata(name, random),
      spec: {
        clusterIP: 'None',
        selector: { app: name },
        ports: [{ port: pick(random, [80, 0, 81]), name: pick(random, texts) }],
      },
    }),
    patch: random => ({
      spec: pick<object>(random, [
        { selector: { tier: pick(random, ['x', 'y', null]) } },
        { sessionAffinity: pick(random, ['ClientIP', 'None']) },
        { publishNotReadyAddresses: pick(random, [true, false, null]) },
      ]),
    }),
  },
  {
    path: `apis/${widgetGroup}/v1/widgets`,
    kind: 'Widget',
    isCustom: true,
    subresources: ['status', 'scale'],
    make: (name, random) => ({
      apiVersion: `${widgetGroup}/v1`,
      kind: 'Widget',
      metadata: metadata(name, random),
      spec: {
        // One error at a time: the real server reports one of several errors in the order of a Go map.
        ...pick<object>(random, [
          { size: 1 },
          { size: 2 },
          { size: 0 },
          { size: 'x' },
          { size: 1, unknown: 1 },
        ]),
        ...(chance(random, 30) && { color: pick(random, ['red', 'blue', 'green', null]) }),
        ...(chance(random, 30) && { replicas: pick(random, [0, 1, 5]) }),
        ...(chance(random, 30) && { parts: [{ name: pick(random, texts) }, {}] }),
        ...(chance(random, 30) && {
          free: { [pick(random, texts)]: pick<unknown>(random, [1, null, [], {}]) },
        }),
      },
      ...(chance(random, 20) && { status: { phase: pick(random, texts), replicas: 1 } }),
    }),
    patch: random =>
      pick<object>(random, [
        { spec: { size: pick(random, [1, 3, 0, null]) } },
        { spec: { color: pick(random, ['red', 'blue', null]) } },
        { spec: { replicas: pick(random, [0, 2, null]) } },
        { spec: { parts: pick<unknown>(random, [null, [], [{ name: 'a' }], [{ count: 2 }]]) } },
        { spec: { free: pick<unknown>(random, [null, {}, { a: { b: 1 } }, []]) } },
        {
          status: pick<unknown>(random, [
            null,
            { phase: 'x' },
            { replicas: 2, selector: 'a=b' },
            { phase: 1 },
          ]),
        },
        { unknown: 1 },
      ]),
  },
]
