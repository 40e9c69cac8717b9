// SPDX-License-Identifier: Apache-2.0

// Measures how long `grove` commands take, from a clone, from the npm package and from the single executable. `get` and
// `status` read from a local cluster. The variants take turns, and the first round, which fills caches of compiled
// code, is not counted. The result is the minimum and the median of the rounds: on a busy machine the minimum is closer
// to the cost.
//   npm run bench -- cli-startup [--rounds=15]
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { writeCliPackage } from '../tools/packaging/cli-package.ts'
import { writeExecutable } from '../tools/packaging/executable.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })
const rounds = Number(values.rounds)
const root = resolve(import.meta.dirname, '..')
const manifest = join(root, 'playground/disaggregated/podcliqueset.yaml')
const clone = [process.execPath, join(root, 'packages/cli/bin/grove.mjs')] as const
const run = promisify(execFile)

const folder = mkdtempSync(join(tmpdir(), 'grove-startup-'))
const kubeconfig = join(folder, 'kubeconfig')
const cluster = spawn(clone[0], [clone[1], 'up', '--kubeconfig', kubeconfig], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  console.error('building the npm package and the executable')
  await writeCliPackage(join(folder, 'npm'))
  await writeExecutable(join(folder, 'grove'))
  const started = once(cluster.stdout, 'data')
  await started
  const connected = ['--kubeconfig', kubeconfig]
  await run(clone[0], [clone[1], 'apply', '-f', manifest, ...connected])
  await run(clone[0], [clone[1], 'rollout', 'status', 'llm', '--watch', ...connected])

  const ways: [name: string, command: readonly string[]][] = [
    ['node alone', [process.execPath, '-e', '0', '--']],
    ['clone', clone],
    ['npm package', [process.execPath, join(folder, 'npm/package/bin/grove.mjs')]],
    ['executable', [join(folder, 'grove')]],
  ]
  const commands: [name: string, args: readonly string[]][] = [
    ['--version', ['--version']],
    ['validate', ['validate', '-f', manifest]],
    ['get', ['get', 'pods', ...connected]],
    ['status', ['status', 'llm', ...connected]],
  ]
  const times = new Map<string, number[]>()
  for (let round = -1; round < rounds; round++)
    for (const [command, args] of commands)
      for (const [way, [file, ...before]] of ways) {
        const start = performance.now()
        await run(file!, [...before, ...args])
        const key = `${way} ${command}`
        if (round >= 0) times.set(key, [...(times.get(key) ?? []), performance.now() - start])
      }
  const row = (cells: readonly string[]) =>
    console.log(
      cells
        .map(cell => cell.padEnd(18))
        .join('')
        .trimEnd(),
    )
  row(['minimum/median ms', ...commands.map(([command]) => command)])
  for (const [way] of ways)
    row([way, ...commands.map(([command]) => figures(times.get(`${way} ${command}`) ?? []))])
} finally {
  cluster.kill()
  await once(cluster, 'exit')
  rmSync(folder, { recursive: true, force: true })
}

function figures(measured: readonly number[]): string {
  const sorted = measured.toSorted((a, b) => a - b)
  return `${Math.round(sorted[0] ?? 0)}/${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)}`
}
