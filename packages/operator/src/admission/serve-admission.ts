// SPDX-License-Identifier: Apache-2.0

// Serves the admission webhooks from review processes. A request of any content costs the operator only the bytes that
// it moves: leases, probes and controllers go on while it is decided, and outlive it.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Client,
  type Clock,
  IsolatedReviews,
  type Logger,
  type Manager,
  type WebhookServer,
} from '@grove/kube'
import { lookUp } from './cluster-lookups.ts'
import { type AdmissionSetup, type Facts, type Questions, webhookPaths } from './webhook-rules.ts'

/** The path next to this file, or next to the bundle that this file is part of. */
const entry = fileURLToPath(new URL(`./review-process${extname(import.meta.filename)}`, import.meta.url))

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
    entry,
    setup,
    lookUp: (questions, signal) => lookUp(client, questions, signal),
    clock,
    log,
    registry: manager.registry,
  })
  for (const path of Object.values(webhookPaths)) {
    if (path === webhookPaths.authorizer && !configuration.authorizer.enabled) continue
    server.handleReviews(path, (review, context) => reviews.decide(path, review, context))
  }
  manager.addBackground('admission', reviews)
  manager.addReadinessCheck('admission', () => reviews.check())
}
