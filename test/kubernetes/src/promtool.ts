// SPDX-License-Identifier: Apache-2.0

// Builds promtool from source into the cache of the test binaries, for tests of alerts and metrics with the tool that
// Prometheus itself uses. A module of its own: Prometheus excludes versions in its go.mod, so `go install` rejects it.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cook, go, type Recipe, type Report, toStderr } from './build.ts'
import { cacheDirectory } from './cache.ts'
import type { KubectlResult } from './kubectl.ts'
import { cacheKey } from './versions.ts'

const source = resolve(import.meta.dirname, '../promtool')
const program = 'github.com/prometheus/prometheus/cmd/promtool'
/** Service discovery of every cloud provider would double the time of the build. */
const tags = 'remove_all_sd'

export interface Promtool {
  /** Exit code and output; never throws for a failing promtool. */
  run(args: readonly string[], input?: string): KubectlResult
}

export async function buildPromtool(report: Report = toStderr): Promise<Promtool> {
  const directory = join(cacheDirectory(), 'bin')
  const recipe = promtoolRecipe(directory)
  if (!existsSync(recipe.file)) await cook(directory, recipe, report)
  return {
    run: (args, input = '') => {
      const { status, stdout, stderr } = spawnSync(recipe.file, [...args], { input, encoding: 'utf8' })
      return { code: status ?? 1, stdout, stderr }
    },
  }
}

function promtoolRecipe(directory: string): Recipe {
  const sources = ['go.mod', 'go.sum'].map(name => readFileSync(join(source, name), 'utf8'))
  const version = /prometheus\/prometheus (v\S+)/.exec(sources[0]!)?.[1] ?? ''
  return {
    name: 'promtool',
    file: join(directory, cacheKey('promtool', version, [...sources, tags])),
    duration: 'about two minutes on two cores the first time',
    build: into =>
      go(
        ['build', '-tags', tags, '-trimpath', '-ldflags', '-s -w', '-o', join(into, 'promtool'), program],
        source,
      ),
  }
}
