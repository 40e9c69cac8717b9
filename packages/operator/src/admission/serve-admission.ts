// SPDX-License-Identifier: Apache-2.0

// Serves the admission webhooks from review processes. A request of any content costs the operator process only the
// transfer of its bytes. Leases, probes and controllers continue during a review, even if the review process crashes.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Node } from '@grove/api'
import {
  type Client,
  type Clock,
  IsolatedReviews,
  type KubeObject,
  type Logger,
  type Manager,
  type Stored,
  WatchCache,
  type WebhookServer,
} from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { placementBudgetMs, placementDeadlineMs, scalingDeadlineMs } from '../timings/timings.ts'
import { lookUp } from './cluster-lookups.ts'
import { nodeText } from './node-text.ts'
import type { PlacementQuestion, SentFacts } from './placement-webhook.ts'
import { type AdmissionSetup, type Facts, type Questions, webhookPaths } from './webhook-rules.ts'

/** The path next to this file, or next to the bundle that this file is part of. */
const entryOf = (name: string) =>
  fileURLToPath(new URL(`./${name}${extname(import.meta.filename)}`, import.meta.url))

/** Heap of the process that evaluates placement. 5,000 nodes and a set of 2,000 pods need less than 150 MiB. */
const placementHeapMiB = { usual: 256, large: 256 }

export interface ServeAdmissionOptions extends AdmissionSetup {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
}

export function serveAdmission(
  manager: Manager,
  server: WebhookServer,
  options: ServeAdmissionOptions,
): void {
  const { configuration, ownUserNames, client, clock, log } = options
  const setup: AdmissionSetup = { configuration, ownUserNames }
  const reviews = new IsolatedReviews<Questions, Facts>({
    entry: entryOf('review-process'),
    setup,
    lookUp: (questions, signal) => lookUp(client, questions, signal),
    clock,
    log,
    registry: manager.registry,
  })
  for (const path of Object.values(webhookPaths)) {
    if (path === webhookPaths.authorizer && !configuration.authorizer.enabled) continue
    if (path === webhookPaths.warnAboutPlacement || path === webhookPaths.warnAboutScaling) continue
    server.handleReviews(path, (review, context) => reviews.decide(path, review, context))
  }
  // Scaling must also work if the review fails.
  server.handleReviews(webhookPaths.warnAboutScaling, (review, context) =>
    inTime(clock, scalingDeadlineMs, context, inner =>
      reviews.decide(webhookPaths.warnAboutScaling, review, { ...inner, undecided: 'allow' }),
    ),
  )
  manager.addBackground('admission', reviews)
  manager.addReadinessCheck('admission', () => reviews.check())
  if (configuration.placementWarnings.enabled) servePlacementWarnings(manager, server, setup, options)
}

/**
 * The process for placement warnings starts on demand and exits when idle, because sets are written rarely. The set is
 * admitted even if the process fails or does not respond.
 */
function servePlacementWarnings(
  manager: Manager,
  server: WebhookServer,
  setup: AdmissionSetup,
  { client, clock, log }: ServeAdmissionOptions,
): void {
  const nodes = new WatchCache<Node, CachedNode>(client, resources.nodes, {
    clock,
    project: cachedNode,
    onFailure: (error, retryInMs) =>
      log.error('Watch failed, retrying', { resource: 'nodes', error, retryInMs: Math.round(retryInMs) }),
  })
  const reviews = new IsolatedReviews<PlacementQuestion, SentFacts>({
    entry: entryOf('placement-process'),
    setup,
    lookUp: async (_, signal) => ({
      nodes: nodes.hasSynced ? nodes.list().map(({ text }) => text) : [],
      topologyBindings: (await client.list(resources.clusterTopologyBindings, { signal })).items,
    }),
    clock,
    log,
    isStanding: false,
    undecided: 'allow',
    heapMiB: placementHeapMiB,
    workBudgetMs: placementBudgetMs,
  })
  const path = webhookPaths.warnAboutPlacement
  server.handleReviews(path, (review, context) =>
    inTime(clock, placementDeadlineMs, context, inner => reviews.decide(path, review, inner)),
  )
  manager.addBackground('nodes', { run: signal => nodes.run(signal) })
  manager.addBackground('placement warnings', reviews)
}

/** Aborts the review for a warning before the timeout of the webhook server rejects the request. */
async function inTime<Context extends { readonly signal: AbortSignal }, T>(
  clock: Clock,
  deadlineMs: number,
  context: Context,
  decide: (context: Context) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const timer = clock.setTimeout(() => late.abort(new Error('no warning in time')), deadlineMs)
  try {
    return await decide({ ...context, signal: AbortSignal.any([context.signal, late.signal]) })
  } finally {
    timer.cancel()
  }
}

interface CachedNode extends KubeObject {
  readonly text: string
}

function cachedNode(node: Stored<Node>): Stored<CachedNode> {
  const { name, uid, resourceVersion, creationTimestamp } = node.metadata
  return { metadata: { name, uid, resourceVersion, creationTimestamp }, text: nodeText(node) }
}
