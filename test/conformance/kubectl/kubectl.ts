// SPDX-License-Identifier: Apache-2.0

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildBinaries } from '@grove/test-kubernetes'

export interface Result {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

export interface RunOptions {
  /** Given on standard input, for `-f -`. */
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** A command that goes on until it is ended. */
export interface Running {
  /** Resolves when the text is there; rejects when the command ends before. */
  shows(pattern: RegExp): Promise<void>
  /** When it ends by itself. */
  readonly ended: Promise<Result>
  /** Ends it, and tells what it has said. */
  end(): Promise<Result>
}

/** The real kubectl, with a home and a kubeconfig of its own. */
export class Kubectl {
  /** Removed at the end; for files that commands read. */
  readonly folder = mkdtempSync(join(tmpdir(), 'grove-kubectl-'))
  readonly #binary: string

  private constructor(binary: string, kubeconfig: string) {
    this.#binary = binary
    writeFileSync(join(this.folder, 'kubeconfig'), kubeconfig)
  }

  static async for(kubeconfig: string): Promise<Kubectl> {
    return new Kubectl((await buildBinaries()).controlPlane, kubeconfig)
  }

  async run(words: readonly string[], options: RunOptions = {}): Promise<Result> {
    const child = this.#spawn(words, options)
    return collect(child, options.input)
  }

  start(words: readonly string[]): Running {
    const child = this.#spawn(words, {})
    let seen = ''
    let hasEnded = false
    const looks = new Set<() => void>()
    child.stdout.on('data', chunk => {
      seen += chunk
      for (const look of looks) look()
    })
    const result = collect(child).then(ended => {
      hasEnded = true
      for (const look of looks) look()
      return ended
    })
    return {
      shows: pattern =>
        new Promise((resolve, reject) => {
          const look = () => {
            if (pattern.test(seen)) resolve()
            else if (hasEnded)
              reject(new Error(`kubectl ${words.join(' ')} ended before ${pattern}: ${seen}`))
          }
          looks.add(look)
          look()
        }),
      ended: result,
      end: () => {
        child.kill('SIGINT')
        return result
      },
    }
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #spawn(words: readonly string[], { environment }: RunOptions): ChildProcessWithoutNullStreams {
    return spawn(this.#binary, ['kubectl', ...words], {
      cwd: this.folder,
      env: {
        ...process.env,
        KUBECONFIG: join(this.folder, 'kubeconfig'),
        HOME: this.folder,
        KUBECTL_KUBERC: 'false',
        ...environment,
      },
    })
  }
}

function collect(child: ChildProcessWithoutNullStreams, input?: string): Promise<Result> {
  let out = ''
  let error = ''
  child.stdout.setEncoding('utf8').on('data', chunk => {
    out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', chunk => {
    error += chunk
  })
  // kubectl may end without reading its input; its exit code tells why.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return new Promise(resolve => child.on('close', code => resolve({ code, out, error })))
}
