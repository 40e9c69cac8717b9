// SPDX-License-Identifier: Apache-2.0

// Random choices in tests repeat from the environment variable SEED. Test files read it themselves, as
// `Number(process.env.SEED ?? 1)`; tools/preload-seed.ts gives it to fast-check.
import { readFileSync } from 'node:fs'

/** The seed of `npm test` and `npm run test:kubernetes`: a failure comes from the change, not from chance. */
export const fixedSeed = 1

/** Arguments of Node for test processes. Node passes them on to the processes that it starts for test files. */
export const seedArguments: readonly string[] = [
  '--import',
  new URL('./preload-seed.ts', import.meta.url).href,
]

const importsFastCheck = /\bfrom 'fast-check'/
const readsSeed = /\bprocess\.env\.SEED\b/

export function usesFastCheck(file: string): boolean {
  return importsFastCheck.test(readFileSync(file, 'utf8'))
}

/** Reports whether SEED changes the random choices of a test file. */
export function dependsOnSeed(file: string): boolean {
  const source = readFileSync(file, 'utf8')
  return readsSeed.test(source) || importsFastCheck.test(source)
}
