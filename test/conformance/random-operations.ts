// SPDX-License-Identifier: Apache-2.0

// Random requests from a seed. Few names and values, so that objects meet: conflicts, absences and repetitions are the
// interesting part.
import type { Random } from '@grove/cluster'
import { deployment } from './objects.ts'

export interface Operation {
  readonly method: string
  /** Below the namespace's path. */
  readonly path: string
  readonly contentType?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const pick = <T>(random: Random, values: readonly T[]): T => values[random.integer(values.length)]!
const chance = (random: Random, percent: number) => random.integer(100) < percent
const names = ['a', 'b', 'c', 'd']
const words = ['x', 'y', 'z', '']

interface Kind {
  readonly path: string
  readonly kind: string
  make(name: string, random: Random): object
  patch(random: Random): object
}

function metadata(name: string, random: Random): object {
  return {
    name,
    ...(chance(random, 40) && { labels: { [pick(random, ['app', 'tier'])]: pick(random, words) } }),
    ...(chance(random, 20) && { annotations: { note: pick(random, words) } }),
    ...(chance(random, 15) && { finalizers: [pick(random, ['example.com/one', 'example.com/two'])] }),
  }
}

function metadataPatch(random: Random): object {
  return pick(random, [
    { labels: { app: pick(random, [...words, null]) } },
    { labels: null },
    { annotations: { note: pick(random, [...words, null]) } },
    { finalizers: null },
    { finalizers: ['example.com/two'] },
  ])
}

const container = (random: Random) => ({
  name: pick(random, ['main', 'side']),
  image: pick(random, ['i:1', 'i:2', 'i']),
  ...(chance(random, 30) && { env: [{ name: pick(random, ['A', 'B']), value: pick(random, words) }] }),
  ...(chance(random, 30) && { ports: [{ containerPort: pick(random, [80, 81]) }] }),
  ...(chance(random, 30) && {
    resources: { limits: { cpu: pick(random, ['1', '1000m', '0.5']), memory: '1Gi' } },
  }),
})

const kinds: readonly Kind[] = [
  {
    path: 'api/v1/configmaps',
    kind: 'ConfigMap',
    make: (name, random) => ({
      metadata: metadata(name, random),
      data: { [pick(random, ['k', 'l'])]: pick(random, words) },
    }),
    patch: random => ({
      data: pick(random, [null, { k: pick(random, [...words, null]) }, { l: pick(random, words) }, { k: 1 }]),
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
    make: (name, random) => ({ metadata: metadata(name, random), stringData: { k: pick(random, words) } }),
    patch: random => ({
      stringData: { l: pick(random, words) },
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
      spec: { holderIdentity: pick(random, words), leaseDurationSeconds: pick(random, [0, 1, 5]) },
    }),
    patch: random => ({ spec: { holderIdentity: pick(random, [...words, null]) } }),
  },
]

function apiVersionOf({ path }: Kind): string {
  return path.replace(/^apis?\//, '').replace(/\/[^/]+$/, '')
}

/** One request about one of a few objects. */
export function randomOperation(random: Random, namespace: string): Operation {
  const kind = pick(random, kinds)
  const collection = `/${kind.path.replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1`)}`
  const name = pick(random, names)
  const path = `${collection}/${name}`
  const fieldManager = pick(random, ['one', 'two', 'three'])
  const dry = { fieldManager, ...(chance(random, 8) && { dryRun: 'All' }) }
  const body = () => (chance(random, 50) ? kind.patch(random) : { metadata: metadataPatch(random) })
  switch (random.integer(14)) {
    case 0:
    case 1:
    case 2:
      return { method: 'POST', path: collection, body: kind.make(name, random), query: dry }
    case 3:
    case 4:
      return { method: 'PUT', path, body: kind.make(name, random), query: dry }
    case 5:
    case 6:
      return { method: 'PATCH', path, contentType: 'application/merge-patch+json', body: body(), query: dry }
    case 7:
      return {
        method: 'PATCH',
        path,
        contentType: 'application/strategic-merge-patch+json',
        body: body(),
        query: dry,
      }
    case 8:
      return {
        method: 'PATCH',
        path,
        contentType: 'application/json-patch+json',
        body: [
          {
            op: pick(random, ['add', 'remove', 'replace', 'test']),
            path: pick(random, [
              '/metadata/labels',
              '/metadata/annotations/note',
              '/data/k',
              '/spec/replicas',
              '/nope/deep',
            ]),
            value: pick<unknown>(random, [{ app: 'x' }, 'y', 2]),
          },
        ],
        query: dry,
      }
    case 9:
      return {
        method: 'DELETE',
        path,
        query: dry.dryRun ? { dryRun: dry.dryRun } : undefined,
        ...(chance(random, 40) && {
          body: pick<object>(random, [
            { propagationPolicy: 'Background' },
            { propagationPolicy: 'Foreground' },
            { propagationPolicy: 'Orphan' },
            { gracePeriodSeconds: 0 },
            { gracePeriodSeconds: 3 },
          ]),
        }),
      }
    case 10:
      return {
        method: 'GET',
        path: collection,
        query: pick<Operation['query']>(random, [
          undefined,
          { labelSelector: 'app' },
          { labelSelector: 'app!=x' },
          { fieldSelector: `metadata.name=${name}` },
        ]),
      }
    case 11:
    case 12:
      return {
        method: 'PATCH',
        path,
        contentType: 'application/apply-patch+yaml',
        body: { ...kind.make(name, random), apiVersion: apiVersionOf(kind), kind: kind.kind },
        query: { ...dry, ...(chance(random, 30) && { force: 'true' }) },
      }
    default:
      return { method: 'GET', path }
  }
}
