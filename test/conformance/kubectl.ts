// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildBinaries } from '@grove/test-kubernetes'

export interface Result {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

/** The real kubectl, with a home and a kubeconfig of its own. */
export class Kubectl {
  readonly #folder = mkdtempSync(join(tmpdir(), 'grove-kubectl-'))
  readonly #binary: string

  private constructor(binary: string, kubeconfig: string) {
    this.#binary = binary
    writeFileSync(join(this.#folder, 'kubeconfig'), kubeconfig)
  }

  static async for(kubeconfig: string): Promise<Kubectl> {
    return new Kubectl((await buildBinaries()).controlPlane, kubeconfig)
  }

  run(words: string, input?: string, environment: Record<string, string> = {}): Promise<Result> {
    const child = spawn(this.#binary, ['kubectl', ...words.split(' ')], {
      env: {
        ...process.env,
        KUBECONFIG: join(this.#folder, 'kubeconfig'),
        HOME: this.#folder,
        ...environment,
      },
    })
    let out = ''
    let error = ''
    child.stdout.on('data', chunk => {
      out += chunk
    })
    child.stderr.on('data', chunk => {
      error += chunk
    })
    child.stdin.end(input)
    return new Promise(resolve => child.on('close', code => resolve({ code, out, error })))
  }

  /** Runs a command that must succeed; answers with what it printed. */
  async ok(words: string, input?: string, environment?: Record<string, string>): Promise<string> {
    const { code, out, error } = await this.run(words, input, environment)
    assert.equal(code, 0, `kubectl ${words}: ${error}`)
    return out
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
