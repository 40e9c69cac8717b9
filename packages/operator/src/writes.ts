// SPDX-License-Identifier: Apache-2.0

// Carries out what plans ask for: many writes at a time but not any number, every failure collected, none swallowed.

/** One pass never has more requests under way than this: a large set must not crowd out the others. */
export const parallelWrites = 32
/** Creations start with a few and become more as they succeed: a quota is met by a few refusals, not by hundreds. */
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

/**
 * Runs tasks, a few at first; each that succeeds lets two more begin, up to what may be under way. After the first failure
 * none begins any more.
 */
export async function runSlowStart(
  tasks: readonly Task[],
): Promise<{ failures: unknown[]; skipped: number }> {
  const failures: { at: number; error: unknown }[] = []
  const workers: Promise<void>[] = []
  let next = 0
  const begin = () => {
    if (workers.length < parallelWrites && next < tasks.length) workers.push(worker())
  }
  const worker = async () => {
    while (next < tasks.length && failures.length === 0) {
      const at = next++
      try {
        await tasks[at]!()
        begin()
      } catch (error) {
        failures.push({ at, error })
      }
    }
  }
  for (let count = 0; count < firstBatch; count++) begin()
  // More may have begun while the earlier ones ran.
  for (let at = 0; at < workers.length; at++) await workers[at]
  const inOrder = failures.sort((a, b) => a.at - b.at).map(({ error }) => error)
  return { failures: inOrder, skipped: tasks.length - next }
}
