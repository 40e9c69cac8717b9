// SPDX-License-Identifier: Apache-2.0

import { applyJsonPatch, cloneJson, equalJson, isJsonObject } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import { randomUid } from '../random.ts'
import type { Resource } from '../registry/resource.ts'
import { DecodeError } from '../schema/decode.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../server/admission.ts'
import type { ServerContext } from '../server/context.ts'
import { apiError } from '../server/status.ts'
import type { Store } from '../store/index.ts'
import { HookClient } from './client.ts'
import { type Hook, Hooks } from './hooks.ts'
import { meetsConditions } from './match-conditions.ts'
import { matchHook } from './matching.ts'
import {
  denial,
  InvalidResponse,
  inVersion,
  type ReviewResponse,
  readResponse,
  reviewRequest,
} from './review.ts'

/** Admission webhooks: mutating ones in order, then validating ones in parallel. */
export interface Webhooks {
  readonly plugins: readonly AdmissionPlugin[]
  stop(): void
}

export function createWebhooks(store: Store): Webhooks {
  const client = new HookClient(store)
  const mutating = new Hooks(store, 'mutatingWebhooks')
  const validating = new Hooks(store, 'validatingWebhooks')
  const change = (attributes: AdmissionAttributes, context: ServerContext) =>
    mutating.all().length > 0 ? mutate(client, mutating.all(), attributes, context) : undefined
  return {
    plugins: [
      {
        name: 'MutatingAdmissionWebhook',
        mutate: change,
        // Deletions have no mutating phase, but mutating webhooks can reject them too.
        validate: (attributes, context) =>
          attributes.operation === 'DELETE' ? change(attributes, context) : undefined,
      },
      {
        name: 'ValidatingAdmissionWebhook',
        validate: (attributes, context) =>
          validating.all().length > 0 ? validate(client, validating.all(), attributes, context) : undefined,
      },
    ],
    stop() {
      mutating.stop()
      validating.stop()
      client.close()
    },
  }
}

async function mutate(
  client: HookClient,
  hooks: readonly Hook[],
  attributes: AdmissionAttributes,
  context: ServerContext,
): Promise<void> {
  /** Webhooks with reinvocation policy IfNeeded. */
  const again = new Set<Hook>()
  const earlier = new Set<Hook>()
  for (const hook of hooks) {
    const seenAs = matchHook(hook, attributes, context)
    if (!seenAs) continue
    if (await callMutating(client, hook, seenAs, attributes, context))
      for (const each of earlier) again.add(each)
    if (hook.reinvocationPolicy === 'IfNeeded') earlier.add(hook)
  }
  for (const hook of again) {
    const seenAs = matchHook(hook, attributes, context)
    if (seenAs) await callMutating(client, hook, seenAs, attributes, context)
  }
}

/** Returns true if the webhook changed the object. */
async function callMutating(
  client: HookClient,
  hook: Hook,
  seenAs: Resource,
  attributes: AdmissionAttributes,
  context: ServerContext,
): Promise<boolean> {
  const response = await call(client, hook, seenAs, attributes, context, true)
  const patch = response?.patch
  if (patch === undefined || (Array.isArray(patch) && patch.length === 0)) return false
  if (!attributes.object)
    throw apiError.internal(
      `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object, which is not supported for this operation`,
    )
  const before = inVersion(attributes.object, attributes.resource, seenAs)
  const patched = applyJsonPatch(cloneJson(before), patch)
  if (!patched.ok) throw apiError.internal(patched.error)
  const after = decodePatched(
    attributes.objectKind ?? attributes.resource,
    inVersion(asObject(patched.value), seenAs, attributes.resource)!,
  )
  const changed = !equalJson(after, attributes.object)
  attributes.object = after
  return changed
}

function asObject(value: unknown): KubeObject {
  if (!isJsonObject(value) || !isJsonObject(value.metadata))
    throw apiError.internal('the patch of an admission webhook left no object')
  return value as object as KubeObject
}

/** Decodes the patched object like a request body: drops unknown fields and applies defaults. */
function decodePatched(resource: Resource, patched: KubeObject): KubeObject {
  try {
    const { object } = resource.codec.decode({ ...patched })
    const draft = cloneJson(object)
    resource.codec.applyDefaults(draft)
    return draft
  } catch (error) {
    if (error instanceof DecodeError) throw apiError.internal(error.message)
    throw error
  }
}

async function validate(
  client: HookClient,
  hooks: readonly Hook[],
  attributes: AdmissionAttributes,
  context: ServerContext,
): Promise<void> {
  const calls: Promise<unknown>[] = []
  for (const hook of hooks) {
    const seenAs = matchHook(hook, attributes, context)
    if (seenAs) calls.push(call(client, hook, seenAs, attributes, context, false))
  }
  // Wait for all calls, so that none is left running after a rejection.
  for (const outcome of await Promise.allSettled(calls))
    if (outcome.status === 'rejected') throw outcome.reason
}

/**
 * Calls the webhook. Returns undefined if its conditions do not match, or if it failed with failure policy
 * Ignore. Throws its rejection.
 */
async function call(
  client: HookClient,
  hook: Hook,
  seenAs: Resource,
  attributes: AdmissionAttributes,
  context: ServerContext,
  mutating: boolean,
): Promise<ReviewResponse | undefined> {
  const name = hook.name ?? ''
  const uid = randomUid(context.random)
  const review = reviewRequest(uid, attributes, seenAs)
  if (!meetsConditions(hook, attributes, review)) return undefined
  let response: ReviewResponse
  try {
    response = readResponse(uid, await client.post(hook, review), mutating)
  } catch (error) {
    if (hook.failurePolicy === 'Ignore') return undefined
    const why =
      error instanceof InvalidResponse ? 'received invalid webhook response' : 'failed to call webhook'
    throw apiError.internal(
      `failed calling webhook ${JSON.stringify(name)}: ${why}: ${(error as Error).message}`,
    )
  }
  for (const warning of response.warnings) attributes.warn(warning)
  if (!response.allowed) throw denial(name, response.result)
  return response
}
