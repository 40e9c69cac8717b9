// SPDX-License-Identifier: Apache-2.0

const kinds = ['updates', 'surges', 'terminations'] as const
/** As `npm run simulate` counts lives. */
type LifeKind = (typeof kinds)[number]

const shownSteps = 25

/** Lives one life. When it goes wrong, the error names the command that repeats it, and the last steps of its log. */
export async function repeatable<T>(
  kind: LifeKind,
  seed: number,
  live: (log: string[]) => Promise<T>,
): Promise<T> {
  const log: string[] = []
  try {
    return await live(log)
  } catch (error) {
    const counts = kinds.map(one => `--${one}=${one === kind ? 1 : 0}`).join(' ')
    const what = error instanceof Error ? error.message : String(error)
    const steps = log.slice(-shownSteps).map(step => `\n${step}`)
    throw new Error(`npm run simulate -- ${counts} --seed=${seed} repeats this: ${what}${steps.join('')}`, {
      cause: error,
    })
  }
}
