// SPDX-License-Identifier: Apache-2.0

const kinds = ['updates', 'surges', 'terminations'] as const
/** The options of `npm run simulate` that count runs. */
type RunKind = (typeof kinds)[number]

const shownSteps = 25

export interface RunOptions {
  /** True if watch events arrive late: the operator reads stale caches. */
  readonly isLate?: boolean
}

/** Runs one simulation. On a failure the error names the command that repeats it, and the last steps of its log. */
export async function repeatable<T>(
  kind: RunKind,
  seed: number,
  { isLate }: RunOptions,
  live: (log: string[]) => Promise<T>,
): Promise<T> {
  const log: string[] = []
  try {
    return await live(log)
  } catch (error) {
    const counts = kinds.map(one => `--${one}=${one === kind ? 1 : 0}`).join(' ')
    const late = isLate ? ' --stale' : ''
    const what = error instanceof Error ? error.message : String(error)
    const steps = log.slice(-shownSteps).map(step => `\n${step}`)
    throw new Error(
      `npm run simulate -- ${counts} --seed=${seed}${late} repeats this: ${what}${steps.join('')}`,
      {
        cause: error,
      },
    )
  }
}
