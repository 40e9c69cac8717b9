// SPDX-License-Identifier: Apache-2.0

// Prints the candidates for the word under the cursor, one per line, with a description after a tab.
import type { Command } from 'commander'
import { escaped } from '../terminal/line.ts'
import { terminal } from '../terminal/terminal.ts'
import { type Candidate, type CompletionRequest, completionRequest } from './completion-request.ts'

/** The end of the output: the shell completes file names, or nothing else. */
const directive = { files: ':0', nothing: ':4' } as const

export async function complete(program: Command, args: readonly string[]): Promise<void> {
  const request = completionRequest(program, args)
  const found = (await candidatesFor(request)).filter(({ value }) => value.startsWith(request.word))
  const lines = found.map(({ value, description }) =>
    description ? `${escaped(value)}\t${escaped(description)}` : escaped(value),
  )
  const end = request.wanted.kind === 'files' ? directive.files : directive.nothing
  terminal().stdout.write([...lines, end, ''].join('\n'))
}

async function candidatesFor(request: CompletionRequest): Promise<readonly Candidate[]> {
  const { wanted } = request
  if (wanted.kind === 'values') return wanted.values
  if (wanted.kind === 'files' || wanted.kind === 'nothing') return []
  const { clusterCandidates } = await import('./cluster-candidates.ts')
  try {
    return await clusterCandidates(request)
  } catch {
    // A message in the middle of a line would not help. Without a cluster there are no candidates.
    return []
  }
}
