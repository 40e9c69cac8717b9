// SPDX-License-Identifier: Apache-2.0

// `npm run bench` lists the benchmarks; `npm run bench -- NAME` runs one. They report ratios and figures, and fail only
// if they cannot run.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const found = new Map(
  globSync(['bench/*.ts', 'packages/*/bench/*.bench.ts'], { cwd: root })
    .sort()
    .map(path => [basename(path).replace(/(\.bench)?\.ts$/, ''), path]),
)
const [name, ...args] = process.argv.slice(2)
const path = found.get(name ?? '')
if (path) {
  const { status } = spawnSync(process.execPath, ['--expose-gc', path, ...args], {
    cwd: root,
    stdio: 'inherit',
  })
  process.exit(status ?? 1)
}
const isRequest = name === undefined || name === '--help' || name === '-h'
if (!isRequest) console.error(`there is no benchmark ${name}\n`)
console.log(
  `Benchmarks (npm run bench -- NAME):\n${[...found].map(([key, file]) => `  ${key.padEnd(20)}${file}`).join('\n')}`,
)
process.exit(isRequest ? 0 : 2)
