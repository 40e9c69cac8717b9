// SPDX-License-Identifier: Apache-2.0

import { PassThrough, Readable, Writable } from 'node:stream'
import { run } from '../main.ts'
import { onTerminal } from '../terminal/terminal.ts'
import type { GroveResult } from './grove-process.ts'

export interface CallOptions {
  readonly input?: string
  /** Simulates a terminal. */
  readonly isTTY?: boolean
  /** Called with the whole output so far, whenever there is more. */
  readonly onOutput?: (text: string) => void
}

/** Runs the command in this process, which is much faster than a new process. */
export async function call(args: readonly string[], options: CallOptions = {}): Promise<GroveResult> {
  const stdout = new Collector(options.onOutput)
  const stderr = new Collector()
  const terminal = {
    stdin: Readable.from([options.input ?? '']).pipe(new PassThrough()),
    stdout: Object.assign(stdout, { isTTY: options.isTTY ?? false }),
    stderr,
  }
  const status = await onTerminal(terminal, () => run(args))
  return { status, stdout: stdout.text, stderr: stderr.text }
}

class Collector extends Writable {
  text = ''
  readonly #onText: (text: string) => void

  constructor(onText: (text: string) => void = () => undefined) {
    super()
    this.#onText = onText
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString('utf8')
    this.#onText(this.text)
    done()
  }
}
