// SPDX-License-Identifier: Apache-2.0

// Runs commands of the documentation in bash, with the real helm and kubectl, and with grove.
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Helm, Kubernetes } from '@grove/test-kubernetes'
import type { PageBlock } from '../../../tools/checks/markdown.ts'
import { repository } from './rendered-chart.ts'

export class PageCommands {
  readonly #env: NodeJS.ProcessEnv
  readonly #directory: string

  /** `directory` is the working directory of the commands. */
  constructor(kubernetes: Kubernetes, helm: Helm, directory: string) {
    const home = join(kubernetes.directory, 'home')
    const programs = join(home, 'bin')
    mkdirSync(programs, { recursive: true })
    symlinkSync(helm.file, join(programs, 'helm'))
    kubernetes.writeKubectl(programs)
    symlinkSync(join(repository, 'packages/cli/bin/grove.mjs'), join(programs, 'grove'))
    this.#directory = directory
    this.#env = {
      PATH: `${programs}:${process.env.PATH}`,
      HOME: home,
      KUBECONFIG: kubernetes.kubeconfig,
    }
  }

  /** Returns standard output. Rejects if a command fails. `values` replaces names of the page such as POD. */
  run(
    { page, line, text }: Pick<PageBlock, 'page' | 'line' | 'text'>,
    values: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const script = Object.entries(values).reduce(
      (commands, [word, value]) => commands.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), value),
      text,
    )
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    execFile(
      'bash',
      ['-c', `set -euo pipefail\n${script}`],
      { cwd: this.#directory, env: this.#env },
      (error, stdout, stderr) =>
        error ? reject(new Error(`${page}:${line}: ${error.message}\n${stdout}${stderr}`)) : resolve(stdout),
    )
    return promise
  }
}
