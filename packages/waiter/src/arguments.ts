// SPDX-License-Identifier: Apache-2.0

// The command line. It is a contract with the program that creates the pod, which may be another implementation of
// the operator. Accepted arguments must stay accepted.

/** The minimum number of ready pods of each parent PodClique, in the order of the command line. */
export type Parents = ReadonlyMap<string, number>

export type CommandLine =
  | { readonly task: 'wait'; readonly parents: Parents }
  | { readonly task: 'help' }
  | { readonly task: 'invalid'; readonly message: string }

export const usage = `Waits until PodCliques have enough ready pods, then exits with 0.

  --podcliques <name>:<count>, -p <name>:<count>   a PodClique and its minimum of ready pods; may be repeated
  --help, -h                                       this text
`

class UsageError extends Error {}

export function parseCommandLine(args: readonly string[]): CommandLine {
  try {
    const values = valuesOf(args)
    return values ? { task: 'wait', parents: parentsOf(values) } : { task: 'help' }
  } catch (error) {
    if (error instanceof UsageError) return { task: 'invalid', message: error.message }
    throw error
  }
}

/** Returns the values of all flags, or undefined for --help. */
function valuesOf(args: readonly string[]): string[] | undefined {
  const values: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    if (arg === '--help' || arg === '-h') return undefined
    if (arg === '--podcliques' || arg === '-p') {
      const value = args[++index]
      if (value === undefined) throw new UsageError(`${arg} needs a value <name>:<count>`)
      values.push(value)
    } else if (arg.startsWith('--podcliques=')) values.push(arg.slice('--podcliques='.length))
    else if (arg.startsWith('-p=')) values.push(arg.slice('-p='.length))
    else if (arg.startsWith('-p')) values.push(arg.slice('-p'.length))
    // If a misspelt flag were ignored, the pod would start too early.
    else
      throw new UsageError(
        `unknown argument ${JSON.stringify(arg)}; only --podcliques <name>:<count> is known`,
      )
  }
  return values
}

function parentsOf(values: readonly string[]): Parents {
  const parents = new Map<string, number>()
  for (const value of values) {
    if (value.trim() === '') continue
    const [name, count] = parentOf(value)
    parents.set(name, count)
  }
  return parents
}

function parentOf(value: string): [name: string, count: number] {
  const quoted = JSON.stringify(value)
  const parts = value.split(':').map(part => part.trim())
  if (parts.length !== 2)
    throw new UsageError(
      `${quoted} is not <name>:<count>: expected 2 parts with a colon between, found ${parts.length}`,
    )
  const [name, digits] = parts as [string, string]
  const count = Number(digits)
  if (!/^[+-]?\d+$/.test(digits) || !Number.isSafeInteger(count))
    throw new UsageError(`${quoted}: the count ${JSON.stringify(digits)} is not an integer`)
  if (count <= 0) throw new UsageError(`${quoted}: the count must be greater than 0`)
  if (name === '') throw new UsageError(`${quoted}: the name of the PodClique is empty`)
  return [name, count]
}
