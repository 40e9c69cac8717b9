// SPDX-License-Identifier: Apache-2.0

// What a round that went wrong leaves behind, written down before it is cleared away.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '@grove/kube'
import type { Stage } from '../stage.ts'
import { setName } from './shape.ts'

export interface Scene {
  readonly stages: readonly Stage[]
  /** What the operator asked for, in that order. */
  readonly writes: readonly string[]
  /** What it said. */
  readonly output: string
}

/** Returns the directory where everything is now. */
export async function keepScene({ stages, writes, output }: Scene): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'grove-campaign-'))
  writeFileSync(join(directory, 'writes.txt'), writes.join('\n'))
  writeFileSync(join(directory, 'operator.log'), output)
  for (const stage of stages)
    writeFileSync(join(directory, `${stage.namespace}.json`), JSON.stringify(await objectsOf(stage), bare, 1))
  return directory
}

async function objectsOf(stage: Stage): Promise<(KubeObject | undefined)[]> {
  return [
    await stage.set(setName),
    ...(await stage.groups(setName)),
    ...(await stage.cliques(setName)),
    ...(await stage.gangs(setName)),
    ...(await stage.pods(setName)),
  ]
}

const bare = (key: string, value: unknown) => (key === 'managedFields' ? undefined : value)
