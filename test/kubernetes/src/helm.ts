// SPDX-License-Identifier: Apache-2.0

// Builds Helm from source into the cache of the test binaries, for tests of the chart with the tool that users have.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cook, go, type Recipe, type Report, toStderr } from './build.ts'
import { cacheDirectory } from './cache.ts'
import type { KubectlResult } from './kubectl.ts'
import { cacheKey } from './versions.ts'

const helmVersion = 'v3.19.5'
/**
 * The client library of this Helm is of Kubernetes 1.34. Charts are rendered for that version unless a cluster says
 * otherwise.
 */
const kubernetesMinor = 34

export interface Helm {
  /** Path of the program, for scripts. */
  readonly file: string
  /** Exit code and output; never rejects for a failing Helm. */
  run(
    args: readonly string[],
    options?: { readonly kubeconfig?: string; readonly input?: string },
  ): Promise<KubectlResult>
}

export async function buildHelm(report: Report = toStderr): Promise<Helm> {
  const directory = join(cacheDirectory(), 'bin')
  const recipe = helmRecipe(directory)
  if (!existsSync(recipe.file)) await cook(directory, recipe, report)
  return { file: recipe.file, run: (args, options) => runHelm(recipe.file, args, options) }
}

function helmRecipe(directory: string): Recipe {
  const module = `helm.sh/helm/v3/cmd/helm@${helmVersion}`
  const packages = ['chartutil', 'lint/rules']
  // As in Helm's own Makefile. Otherwise it assumes Kubernetes 1.20.
  const stamps = [
    ...packages.flatMap(name => [
      `-X helm.sh/helm/v3/pkg/${name}.k8sVersionMajor=1`,
      `-X helm.sh/helm/v3/pkg/${name}.k8sVersionMinor=${kubernetesMinor}`,
    ]),
    `-X helm.sh/helm/v3/internal/version.version=${helmVersion}`,
  ]
  const flags = ['-s -w', ...stamps].join(' ')
  return {
    name: 'helm',
    file: join(directory, cacheKey('helm', helmVersion, [module, flags])),
    duration: 'about two minutes on two cores the first time',
    build: into => go(['install', '-trimpath', '-ldflags', flags, module], into, { GOBIN: into }),
  }
}

function runHelm(
  binary: string,
  args: readonly string[],
  { kubeconfig, input = '' }: { readonly kubeconfig?: string; readonly input?: string } = {},
): Promise<KubectlResult> {
  const { promise, resolve, reject } = Promise.withResolvers<KubectlResult>()
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    // Helm must not read the user's settings: no repositories, no plugins, and no cluster unless one is given.
    HOME: join(cacheDirectory(), 'helm-home'),
    KUBECONFIG: kubeconfig ?? '/dev/null',
  }
  const child = spawn(binary, [...args], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', chunk => {
    stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', chunk => {
    stderr += chunk
  })
  child.once('error', reject)
  child.once('close', code => resolve({ code: code ?? 1, stdout, stderr }))
  child.stdin.once('error', () => {})
  child.stdin.end(input)
  return promise
}
