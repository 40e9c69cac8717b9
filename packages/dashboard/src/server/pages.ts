// SPDX-License-Identifier: Apache-2.0

// The documents of the API by path, computed from the caches at most once per revision.
import { createHash } from 'node:crypto'
import type { CacheProblem, DashboardCaches } from '../caches/caches.ts'
import { nodesDocument } from '../documents/nodes.ts'
import { overviewDocument } from '../documents/overview.ts'
import { setDocument } from '../documents/set.ts'
import type { Notes } from '../documents/types.ts'

export interface Document {
  readonly status: number
  readonly body: string
  readonly etag: string
}

/** Documents that are kept for one revision. A client that asks for more sets makes the server compute again. */
const mostKept = 50

export class Pages {
  readonly #caches: DashboardCaches
  readonly #kept = new Map<string, Document>()

  constructor(caches: DashboardCaches) {
    this.#caches = caches
  }

  /** Forgets the documents of the revision before. */
  renew(): void {
    this.#kept.clear()
  }

  /** Returns undefined if there is no such path. */
  get(path: string): Document | undefined {
    const kept = this.#kept.get(path)
    if (kept) return kept
    const found = this.#compute(path)
    if (!found) return undefined
    const body = JSON.stringify(found.value)
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
    const document = { status: found.status, body, etag }
    if (found.status === 200) {
      if (this.#kept.size >= mostKept) this.#kept.clear()
      this.#kept.set(path, document)
    }
    return document
  }

  #compute(path: string): { readonly status: number; readonly value: object } | undefined {
    const [, name, ...rest] = /^\/api\/(overview|nodes|sets)(?:\/([^/]+)\/([^/]+))?$/.exec(path) ?? []
    const parts = rest.flatMap(part => (part === undefined ? [] : [decoded(part)]))
    if (name === undefined || (name === 'sets') !== (parts.length === 2)) return undefined
    if (parts.includes(undefined)) return undefined
    const caches = this.#caches
    if (!caches.hasSynced) return unavailable(caches.problems())
    if (name === 'overview')
      return found(
        overviewDocument(
          caches.sets.list().map(set => caches.objectsOf(set)),
          caches.events(),
          this.#notes(),
        ),
      )
    if (name === 'nodes')
      return found(
        nodesDocument(
          {
            nodes: caches.nodes.list(),
            pods: caches.pods.list(),
            topologyBindings: caches.topologyBindings.list(),
          },
          this.#notes(),
        ),
      )
    const [namespace = '', set = ''] = parts as string[]
    const stored = caches.sets.get({ namespace, name: set })
    if (!stored) return { status: 404, value: { error: `PodCliqueSet ${namespace}/${set} does not exist` } }
    return found(setDocument(caches.objectsOf(stored), caches.events(), this.#notes()))
  }

  #notes(): Notes {
    const { namespace, isStale } = this.#caches
    return {
      ...(namespace !== undefined && { namespace }),
      isStale,
      problems: this.#caches.problems().map(({ resource, message }) => ({ resource, message })),
    }
  }
}

const found = (value: object) => ({ status: 200, value })

function unavailable(problems: readonly CacheProblem[]) {
  const problem = problems.find(({ isRequired }) => isRequired)
  const error = problem
    ? `cannot read ${problem.resource} from the cluster: ${problem.message}`
    : 'reading the objects of the cluster; try again in a moment'
  return { status: 503, value: { error } }
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
