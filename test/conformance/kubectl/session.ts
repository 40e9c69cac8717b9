// SPDX-License-Identifier: Apache-2.0

import type { Shell } from './shell.ts'

/** What somebody does with kubectl. What they see must be the same on every cluster. */
export interface Session {
  readonly title: string
  readonly hold: (shell: Shell) => Promise<void>
}

export function sessions(all: Readonly<Record<string, Session['hold']>>): Session[] {
  return Object.entries(all).map(([title, hold]) => ({ title, hold }))
}
