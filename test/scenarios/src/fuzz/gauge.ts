// SPDX-License-Identifier: Apache-2.0

// Reads the measurements that event-loop-gauge.ts writes inside the operator process.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { GaugeLine } from './event-loop-gauge.ts'

export class Gauge {
  readonly #file: string

  constructor(directory: string) {
    this.#file = join(directory, 'gauge.jsonl')
  }

  /** Node options for the operator process. */
  get nodeFlags(): string[] {
    const url = pathToFileURL(join(import.meta.dirname, 'event-loop-gauge.ts'))
    url.searchParams.set('file', this.#file)
    return ['--expose-gc', '--import', url.href]
  }

  /** The measurements of one process. */
  lines(pid: number, since = 0): GaugeLine[] {
    return readFileSync(this.#file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line) as GaugeLine)
      .filter(line => line.pid === pid && line.at >= since)
  }

  /** Memory in use after a garbage collection in the process. */
  async collected(pid: number): Promise<GaugeLine> {
    const since = Date.now()
    process.kill(pid, 'SIGUSR2')
    for (;;) {
      const line = this.lines(pid, since).find(({ collected }) => collected)
      if (line) return line
      await sleep(50)
    }
  }
}
