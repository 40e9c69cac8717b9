// SPDX-License-Identifier: Apache-2.0

// What the server process and a review process send each other. One review is under way per process, so messages carry
// no number.
import type { ReviewRecord } from '../review.ts'

/** The first message to a review process: what it needs to know before it can decide anything. */
export interface SetupMessage {
  readonly kind: 'setup'
  readonly setup: unknown
}

/** A review to decide. With `facts` it is sent for the second time: they are what was asked for the first time. */
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
  /** The rules need to know something about the cluster first. */
  | { readonly kind: 'question'; readonly question: unknown }
  /** `record` is absent where the body was no review. */
  | { readonly kind: 'answer'; readonly body: Uint8Array; readonly record?: ReviewRecord }
