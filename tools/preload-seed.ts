// SPDX-License-Identifier: Apache-2.0

// Loaded before a test file by `node --import`: sets the seed of fast-check.
import { fixedSeed, usesFastCheck } from './seed.ts'

const [, program] = process.argv
// Most test files have no properties, and loading fast-check would double their start time.
if (process.env.NODE_TEST_CONTEXT !== undefined && program !== undefined && usesFastCheck(program)) {
  const { default: fc } = await import('fast-check')
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.SEED ?? fixedSeed) })
}
