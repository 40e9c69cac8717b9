// SPDX-License-Identifier: Apache-2.0

// Messages between the server process and a review process. A process decides one review at a time, so messages carry
// no number.
import type { ReviewRecord } from '../review.ts'

/** The first message to a review process, with the setup for all reviews. */
export interface SetupMessage {
  readonly kind: 'setup'
  readonly setup: unknown
}

/** A review to decide. `facts` is set when it is sent again, with the result of its question. */
export interface ReviewMessage {
  readonly kind: 'review'
  readonly path: string
  readonly body: Uint8Array
  readonly facts?: unknown
}

export interface ReadyMessage {
  readonly kind: 'ready'
}

export type ReviewReply =
  /** The webhook needs facts about the cluster first. */
  | { readonly kind: 'question'; readonly question: unknown }
  /** `record` is absent if the body was not a review. */
  | { readonly kind: 'response'; readonly body: Uint8Array; readonly record?: ReviewRecord }
