// SPDX-License-Identifier: Apache-2.0

// The review process: decides one review at a time and keeps nothing between two of them. It talks to its parent
// only, and ends with it.
import type { AdmissionRequest, AdmissionResponse } from '../admission.ts'
import { closeReview, openReview } from '../review.ts'
import type { ReadyMessage, ReviewMessage, ReviewReply, SetupMessage } from './messages.ts'

/** A webhook as pure code. Between the two functions, the parent looks up facts about the cluster. */
export interface IsolatedWebhook<Question = unknown, Facts = unknown> {
  /** Returns the facts that the decision needs; undefined for none. */
  question?(request: AdmissionRequest): Question | undefined
  decide(request: AdmissionRequest, facts: Facts | undefined): AdmissionResponse
}

/** By path. */
export type IsolatedWebhooks<Question = unknown, Facts = unknown> = Readonly<
  Record<string, IsolatedWebhook<Question, Facts>>
>

/** Called once, by the entry point of a review process. Reports ready when `prepare` has returned. */
export function serveReviews<Setup, Question, Facts>(
  prepare: (setup: Setup) => IsolatedWebhooks<Question, Facts> | Promise<IsolatedWebhooks<Question, Facts>>,
): void {
  let webhooks: IsolatedWebhooks<Question, Facts> = {}
  // The parent ends this process. A terminal sends its signals to both.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.once('disconnect', () => process.exit())
  process.on('message', async (message: SetupMessage | ReviewMessage) => {
    if (message.kind === 'setup') {
      webhooks = await prepare(message.setup as Setup)
      send({ kind: 'ready' })
    } else {
      send(await decideReview(webhooks, message))
    }
  })
}

function send(message: ReadyMessage | ReviewReply): void {
  process.send?.(message)
}

async function decideReview<Question, Facts>(
  webhooks: IsolatedWebhooks<Question, Facts>,
  { path, body, facts }: ReviewMessage,
): Promise<ReviewReply> {
  const review = openReview(Buffer.from(body.buffer, body.byteOffset, body.byteLength))
  if (typeof review === 'string') return { kind: 'response', body: Buffer.from(review) }
  const webhook = webhooks[path]
  if (!webhook) throw new Error(`no webhook for the path ${path}`)
  let question: Question | undefined
  const { text, record } = await closeReview(review, () => {
    if (facts === undefined) question = webhook.question?.(review.request)
    // Never sent: the review is repeated with the facts.
    if (question !== undefined) return { allowed: false, code: 500 }
    return webhook.decide(review.request, facts as Facts | undefined)
  })
  if (question !== undefined) return { kind: 'question', question }
  return { kind: 'response', body: Buffer.from(text), record }
}
