// SPDX-License-Identifier: Apache-2.0

// AdmissionReviews from one seed: valid, mutated and hostile ones, and bodies that are not a review.
import fc from 'fast-check'
import { sets } from '../random-sets/sets.ts'
import { seeded } from '../seeded.ts'
import { hostileSets } from './hostile-sets.ts'
import { type Below, mutated, strangeText, strangeValue } from './mutation.ts'

export interface Review {
  readonly path: string
  readonly body: string
  /** The origin of the review, for the report. */
  readonly origin: string
  /** True if the response must be an AdmissionReview. A body that is not a review may get an HTTP error. */
  readonly isReview: boolean
}

const paths = [
  '/webhooks/default-podcliqueset',
  '/webhooks/validate-podcliqueset',
  '/webhooks/validate-podcliqueset',
  '/webhooks/validate-clustertopology',
  '/webhooks/authorizer-webhook',
] as const

const users = [
  'kubernetes-admin',
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:serviceaccount:grove-system:grove-operator',
  'tenant',
  '',
]

/** One review in this number is hostile. Those of full size are rarer, because each has up to two megabytes. */
const hostileEvery = 50
const hostileSizes = [20, 60, 200, 400]
const fullSize = 3_000
const sampledSets = 300

export function reviewGenerator(seed: number): (index: number) => Review {
  const valid = fc.sample(sets, { seed, numRuns: sampledSets })
  const hostileNames = Object.keys(hostileSets)
  return index => {
    const below = seeded(seed * 7919 + index)
    // Skips the first numbers, which are similar for neighbouring seeds.
    for (let skipped = 0; skipped < 3; skipped++) below(2)
    const base = valid[below(valid.length)]
    if (index % hostileEvery === 0) {
      const name = hostileNames[below(hostileNames.length)] ?? ''
      const size = below(40) === 0 ? fullSize : (hostileSizes[below(hostileSizes.length)] ?? 20)
      const hostile = hostileSets[name]?.(size)
      return review(`hostile ${name} ${size}`, hostile, below(2) ? undefined : hostile, below)
    }
    switch (below(10)) {
      case 0:
        return review('valid', base, undefined, below)
      case 1:
        return malformed(base, below)
      case 2:
        return review('valid update', valid[below(valid.length)], base, below)
      case 3:
        return review('mutated update', mutated(base, below, 1 + below(4)), base, below)
      case 4:
        return review('update of a mutated object', base, mutated(base, below, 1 + below(4)), below)
      default:
        return review('mutated', mutated(base, below, 1 + below(6)), undefined, below)
    }
  }
}

function review(origin: string, object: unknown, oldObject: unknown, below: Below): Review {
  const path = paths[below(paths.length)] ?? paths[0]
  return { origin, path, isReview: true, body: JSON.stringify(reviewOf(object, oldObject, below)) }
}

function reviewOf(object: unknown, oldObject: unknown, below: Below) {
  const operation = below(30) === 0 ? 'DELETE' : oldObject === undefined ? 'CREATE' : 'UPDATE'
  const kind = { group: 'grove.io', version: 'v1alpha1', kind: 'PodCliqueSet' }
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: `uid-${below(1_000_000)}`,
      kind,
      resource: { group: 'grove.io', version: 'v1alpha1', resource: 'podcliquesets' },
      name: 'gen',
      namespace: 'default',
      operation,
      userInfo: { username: users[below(users.length)], groups: ['system:authenticated'] },
      object: operation === 'DELETE' ? null : (object ?? null),
      oldObject: operation === 'DELETE' ? (object ?? null) : (oldObject ?? null),
      dryRun: below(2) === 0,
    },
  }
}

/** Bodies that an API server never sends: broken JSON, other kinds, missing and mistyped fields of the review. */
function malformed(base: unknown, below: Below): Review {
  const path = below(10) === 0 ? `/${strangeText(below)}` : (paths[below(paths.length)] ?? paths[0])
  const whole = reviewOf(base, undefined, below)
  const text = JSON.stringify(whole)
  const bodies: (() => string)[] = [
    () => '',
    () => text.slice(0, below(text.length)),
    () => JSON.stringify(strangeValue(below)),
    () => '['.repeat(20_000),
    () => `{"a":${'[1,'.repeat(2_000)}`,
    () => JSON.stringify({ ...whole, request: strangeValue(below) }),
    () => JSON.stringify({ ...whole, request: { ...whole.request, object: strangeValue(below) } }),
    () => JSON.stringify({ ...whole, request: { ...whole.request, userInfo: strangeValue(below) } }),
    () => JSON.stringify({ ...whole, request: { ...whole.request, operation: strangeValue(below) } }),
    () => JSON.stringify(mutated(whole, below, 1 + below(5))),
  ]
  const body = bodies[below(bodies.length)]?.() ?? ''
  return { origin: 'malformed', path: encodeURI(path.toWellFormed()), body, isReview: false }
}
