// SPDX-License-Identifier: Apache-2.0

// Writes the objects, requests and logs of a failed round to files before the round is cleaned up.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '@grove/kube'
import type { Harness } from '../harness.ts'
import { setName } from './shape.ts'

export interface FailureDump {
  readonly harnesses: readonly Harness[]
  /** Write requests of the operator, in order. */
  readonly writes: readonly string[]
  /** Log of the operator. */
  readonly output: string
}

/** Returns the directory of the files. */
export async function dumpFailure({ harnesses, writes, output }: FailureDump): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'grove-faults-'))
  writeFileSync(join(directory, 'writes.txt'), writes.join('\n'))
  writeFileSync(join(directory, 'operator.log'), output)
  for (const harness of harnesses)
    writeFileSync(
      join(directory, `${harness.namespace}.json`),
      JSON.stringify(await objectsOf(harness), bare, 1),
    )
  return directory
}

async function objectsOf(harness: Harness): Promise<(KubeObject | undefined)[]> {
  return [
    await harness.set(setName),
    ...(await harness.groups(setName)),
    ...(await harness.cliques(setName)),
    ...(await harness.gangs(setName)),
    ...(await harness.pods(setName)),
  ]
}

const bare = (key: string, value: unknown) => (key === 'managedFields' ? undefined : value)
