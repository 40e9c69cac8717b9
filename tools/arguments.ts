// SPDX-License-Identifier: Apache-2.0

import { globSync } from 'node:fs'
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Parses the arguments of a command. For --help and for unknown arguments it prints the usage and exits. */
export function readArguments<T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  if (process.argv.slice(2).some(arg => arg === '--help' || arg === '-h')) {
    console.log(usage)
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    rejectArguments(error instanceof Error ? error.message : String(error), usage)
  }
}

/** Expands patterns. Rejects a path without a file before anything runs. */
export function filesOf(patterns: readonly string[], usage: string): string[] {
  return patterns.flatMap(pattern => {
    const files = globSync(pattern)
    const missing = files.length === 0 ? pattern : files.find(file => !file.endsWith('.test.ts'))
    if (missing !== undefined) rejectArguments(`${missing} is not a test file`, usage)
    return files
  })
}

export function rejectArguments(why: string, usage: string): never {
  console.error(`${why}\n\n${usage}`)
  process.exit(2)
}
