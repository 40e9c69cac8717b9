// SPDX-License-Identifier: Apache-2.0

// Carries out what plans ask for: many writes at a time but not any number, every failure collected, none swallowed.

/** One pass never has more requests under way than this: a large set must not crowd out the others. */
export const parallelWrites = 32
/** Creations start with a few and double while they succeed, so that a quota is met by a few refusals, not by hundreds. */
export const firstBatch = 8

export type Task = () => Promise<unknown>

/** Runs all tasks, whatever becomes of the others; returns the failures in the order of the tasks. */
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

/** Runs tasks in growing batches; the first batch with a failure is the last. */
export async function runSlowStart(
  tasks: readonly Task[],
): Promise<{ failures: unknown[]; skipped: number }> {
  let done = 0
  for (let size = firstBatch; done < tasks.length; size *= 2) {
    const batch = tasks.slice(done, done + size)
    const failures = await runAll(batch)
    done += batch.length
    if (failures.length) return { failures, skipped: tasks.length - done }
  }
  return { failures: [], skipped: 0 }
}
