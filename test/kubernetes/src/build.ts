// SPDX-License-Identifier: Apache-2.0

// Builds the two binaries from source, once per version: the control plane (etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and kubectl in one) and KWOK. Needs Go only if they are missing.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheDirectory, withLock } from './cache.ts'
import { requireGo } from './go.ts'
import { cacheKey, controlPlaneSource, moduleFile, readModule, readVersions } from './versions.ts'

export interface Binaries {
  readonly controlPlane: string
  readonly kwok: string
}

export type Report = (line: string) => void

export interface Recipe {
  readonly name: string
  readonly file: string
  readonly duration: string
  /** Runs Go and writes the program to `directory/<name>`. */
  readonly build: (directory: string) => Promise<void>
}

export async function buildBinaries(report: Report = toStderr): Promise<Binaries> {
  const directory = join(cacheDirectory(), 'bin')
  const recipes = { controlPlane: controlPlaneRecipe(directory), kwok: kwokRecipe(directory) }
  for (const recipe of Object.values(recipes))
    if (!existsSync(recipe.file)) await cook(directory, recipe, report)
  return { controlPlane: recipes.controlPlane.file, kwok: recipes.kwok.file }
}

function controlPlaneRecipe(directory: string): Recipe {
  const module = moduleFile()
  const { kubernetes } = readVersions()
  const sources = [module, module.replace(/mod$/, 'sum'), 'main.go'].map(readModule)
  const flags = versionFlags(kubernetes)
  return {
    name: 'control-plane',
    file: join(directory, cacheKey('control-plane', kubernetes, [...sources, flags])),
    duration: 'about eight minutes on two cores the first time',
    build: into =>
      go(
        [
          'build',
          `-modfile=${module}`,
          '-trimpath',
          '-ldflags',
          flags,
          '-o',
          join(into, 'control-plane'),
          '.',
        ],
        controlPlaneSource,
      ),
  }
}

function kwokRecipe(directory: string): Recipe {
  const { kwok } = readVersions()
  const module = `sigs.k8s.io/kwok/cmd/kwok@${kwok}`
  return {
    name: 'kwok',
    file: join(directory, cacheKey('kwok', kwok, [module])),
    duration: 'about two minutes on two cores the first time',
    build: into => go(['install', module], into, { GOBIN: into }),
  }
}

/** Without the version stamps the apiserver reports v0.0.0 and rejects feature gates by their age. */
export function versionFlags(kubernetes: string): string {
  const [major, minor] = kubernetes.replace(/^v/, '').split('.')
  const stamp = 'k8s.io/component-base/version'
  return `-s -w -X ${stamp}.gitVersion=${kubernetes} -X ${stamp}.gitMajor=${major} -X ${stamp}.gitMinor=${minor}`
}

/** Builds the recipe's file in the directory unless another process has built it meanwhile. */
export async function cook(directory: string, recipe: Recipe, report: Report): Promise<void> {
  const lock = join(directory, `${recipe.name}.lock`)
  await withLock(
    lock,
    async () => {
      if (existsSync(recipe.file)) return
      requireGo()
      mkdirSync(directory, { recursive: true })
      removeScratch(directory, recipe)
      const scratch = mkdtempSync(join(directory, `.${recipe.name}-`))
      const started = Date.now()
      report(`Building ${recipe.name} from source (${recipe.duration}) …`)
      const progress = setInterval(
        () => report(`  … still building ${recipe.name}, ${seconds(started)} s`),
        15_000,
      )
      try {
        await recipe.build(scratch)
        // A rename is atomic: no process reads an incomplete binary.
        renameSync(join(scratch, recipe.name), recipe.file)
        report(`Built ${recipe.file} in ${seconds(started)} s`)
      } finally {
        clearInterval(progress)
        rmSync(scratch, { recursive: true, force: true })
      }
    },
    holder => report(`Waiting for process ${holder}, which is building ${recipe.name} …`),
  )
}

// Only the holder of the lock builds, so these are leftovers of interrupted builds.
function removeScratch(directory: string, recipe: Recipe): void {
  for (const entry of readdirSync(directory))
    if (entry.startsWith(`.${recipe.name}-`)) rmSync(join(directory, entry), { recursive: true, force: true })
}

export function go(args: string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, {
      cwd,
      env: { ...process.env, CGO_ENABLED: '0', ...env },
      stdio: ['ignore', 2, 2],
    })
    child.on('error', reject)
    child.on('exit', (code, signal) =>
      code === 0
        ? resolve()
        : reject(
            new Error(
              `go ${args[0]} ended with ${signal ?? `code ${code}`}; its message is above. The Go module ` +
                'proxy must be reachable, and about 6 GB of disk free.',
            ),
          ),
    )
  })
}

function seconds(since: number): number {
  return Math.round((Date.now() - since) / 1000)
}

export function toStderr(line: string): void {
  process.stderr.write(`${line}\n`)
}
