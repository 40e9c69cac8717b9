// SPDX-License-Identifier: Apache-2.0

// Random requests from a seed. Names and values are few, so that conflicts, missing objects and duplicates are
// frequent.
import type { Random } from '@grove/cluster'
import { chance, type Kind, kinds, metadataPatch, names, pick } from './random-kinds.ts'

export interface Operation {
  readonly method: string
  /** Relative to the path of the namespace. */
  readonly path: string
  readonly contentType?: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
}

function apiVersionOf({ path }: Kind): string {
  return path.replace(/^apis?\//, '').replace(/\/[^/]+$/, '')
}

function scaleOf(name: string, random: Random): object {
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name },
    spec: { replicas: pick(random, [0, 1, 7, -1]) },
  }
}

/** Returns one request about one of a few objects. */
export function randomOperation(random: Random, namespace: string): Operation {
  const kind = pick(random, kinds)
  const collection = `/${kind.path.replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1`)}`
  const name = pick(random, names)
  const subresource = kind.subresources && chance(random, 25) ? `/${pick(random, kind.subresources)}` : ''
  const path = `${collection}/${name}${subresource}`
  const fieldManager = pick(random, ['one', 'two', 'three'])
  const dry = { fieldManager, ...(chance(random, 8) && { dryRun: 'All' }) }
  const body = () => (chance(random, 50) ? kind.patch(random) : { metadata: metadataPatch(random) })
  switch (random.integer(15)) {
    case 0:
    case 1:
    case 2:
      return { method: 'POST', path: collection, body: kind.make(name, random), query: dry }
    case 3:
    case 4:
      return {
        method: 'PUT',
        path,
        body: subresource === '/scale' ? scaleOf(name, random) : kind.make(name, random),
        query: dry,
      }
    case 5:
    case 6:
      return { method: 'PATCH', path, contentType: 'application/merge-patch+json', body: body(), query: dry }
    case 7:
      // Custom resources have no strategic merge patch.
      if (kind.isCustom) return { method: 'GET', path }
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
        path: `${collection}/${name}`,
        query: dry.dryRun ? { dryRun: dry.dryRun } : undefined,
        ...(chance(random, 40) && {
          body: pick<object>(random, [
            { propagationPolicy: 'Background' },
            { propagationPolicy: 'Foreground' },
            { propagationPolicy: 'Orphan' },
            { gracePeriodSeconds: 0 },
            { gracePeriodSeconds: 3 },
            { preconditions: { resourceVersion: '1' } },
            { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } },
            { propagationPolicy: 'Sideways' },
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
    case 13:
      return {
        method: 'DELETE',
        path: collection,
        query: pick<Operation['query']>(random, [
          { labelSelector: 'app=x' },
          { labelSelector: 'tier' },
          { fieldSelector: `metadata.name=${name}` },
          { fieldSelector: `metadata.name=${name}`, dryRun: 'All' },
        ]),
      }
    default:
      return { method: 'GET', path }
  }
}
