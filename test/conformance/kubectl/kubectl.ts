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
  /** Standard input, for `-f -`. */
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** A command that runs until it is stopped. */
export interface Running {
  /** Resolves when the text is printed; rejects if the command exits before. */
  shows(pattern: RegExp): Promise<void>
  /** Resolves when the command exits. */
  readonly ended: Promise<Result>
  /** Stops the command and returns its output. */
  end(): Promise<Result>
}

/** The real kubectl, with its own home directory and kubeconfig. */
export class Kubectl {
  /** A directory for files that commands read. It is removed at the end. */
  readonly folder = mkdtempSync(join(tmpdir(), 'grove-kubectl-'))
  readonly #binary: string

  private constructor(binary: string, kubeconfig: string) {
    this.#binary = binary
    writeFileSync(join(this.folder, 'kubeconfig'), kubeconfig)
  }

  static async for(kubeconfig: string): Promise<Kubectl> {
    return new Kubectl((await buildBinaries()).controlPlane, kubeconfig)
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    const child = this.#spawn(args, options)
    return collect(child, options.input)
  }

  start(args: readonly string[]): Running {
    const child = this.#spawn(args, {})
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
            else if (hasEnded) reject(new Error(`kubectl ${args.join(' ')} ended before ${pattern}: ${seen}`))
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

  #spawn(args: readonly string[], { environment }: RunOptions): ChildProcessWithoutNullStreams {
    return spawn(this.#binary, ['kubectl', ...args], {
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
  // kubectl may exit without reading its input; its exit code gives the reason.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return new Promise(resolve => child.on('close', code => resolve({ code, out, error })))
}
