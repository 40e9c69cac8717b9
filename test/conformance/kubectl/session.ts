// SPDX-License-Identifier: Apache-2.0

import type { Shell } from './shell.ts'

/** A sequence of kubectl commands. The output must be the same on every cluster. */
export interface Session {
  readonly title: string
  readonly hold: (shell: Shell) => Promise<void>
}

export function sessions(all: Readonly<Record<string, Session['hold']>>): Session[] {
  return Object.entries(all).map(([title, hold]) => ({ title, hold }))
}
