// SPDX-License-Identifier: Apache-2.0

// Runs requests in parallel, up to a limit. Collects every failure.
import type { Client, KubeObject, PatchOptions, Resource, Stored } from '@grove/kube'

/** The most requests of one plan that run in parallel: a large set must not crowd out the others. */
export const parallelWrites = 32
/**
 * The most objects that one plan creates. A set may want many thousands: the next reconcile creates the next slice, so
 * that neither memory nor the duration of one reconcile depends on a replica count.
 */
export const mostCreated = 500
/** Creations start slowly and speed up as they succeed, so that an exhausted quota rejects a few requests, not hundreds. */
export const firstBatch = 8

export type Task = () => Promise<unknown>

/** Runs all tasks, also after failures. Returns the failures in the order of the tasks. */
export async function runAll(tasks: readonly Task[]): Promise<unknown[]> {
  const failures: { at: number; error: unknown }[] = []
  let next = 0
  const worker = async () => {
    for (let at = next++; at < tasks.length; at = next++) {
      try {
        await tasks[at]!()
      } catch (error) {
        failures.push({ at, error })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallelWrites, tasks.length) }, worker))
  return failures.sort((a, b) => a.at - b.at).map(({ error }) => error)
}

/**
 * Runs a few tasks at first. Each success starts two more, up to the limit. Starts none after the first failure, or
 * after the tolerated number of failures.
 */
export async function runSlowStart(
  tasks: readonly Task[],
  { tolerated = 1 }: { readonly tolerated?: number } = {},
): Promise<{ failures: unknown[]; skipped: number }> {
  const failures: { at: number; error: unknown }[] = []
  const workers: Promise<void>[] = []
  let next = 0
  const begin = () => {
    if (workers.length < parallelWrites && next < tasks.length) workers.push(worker())
  }
  const worker = async () => {
    while (next < tasks.length && failures.length < tolerated) {
      const at = next++
      try {
        await tasks[at]!()
        begin()
      } catch (error) {
        failures.push({ at, error })
        // A failure reduces the number of parallel requests.
        return
      }
    }
  }
  for (let count = 0; count < firstBatch; count++) begin()
  // More tasks may have started while the earlier ones ran.
  for (let at = 0; at < workers.length; at++) await workers[at]
  const inOrder = failures.sort((a, b) => a.at - b.at).map(({ error }) => error)
  return { failures: inOrder, skipped: tasks.length - next }
}

/** The body of a merge patch or of a strategic merge patch. */
export type ObjectPatch =
  | { readonly merge: Readonly<Record<string, unknown>> }
  | { readonly strategic: Readonly<Record<string, unknown>> }

/**
 * Patches exactly this object, and never a successor with the same name. The patch carries the UID, and the API server
 * rejects it with a conflict if the UID differs. Every patch of the reconcilers uses this function.
 */
export function patchObject<T extends KubeObject>(
  { client }: { readonly client: Pick<Client, 'patch'> },
  resource: Resource<T>,
  { metadata: { name, namespace, uid } }: Pick<Stored<T>, 'metadata'>,
  patch: ObjectPatch,
  options: PatchOptions,
): Promise<Stored<T>> {
  const identified = (body: Readonly<Record<string, unknown>>) => ({
    ...body,
    metadata: { ...(body.metadata as object | undefined), uid },
  })
  return client.patch(
    resource,
    { name, ...(namespace && { namespace }) },
    'merge' in patch ? { merge: identified(patch.merge) } : { strategic: identified(patch.strategic) },
    options,
  )
}
