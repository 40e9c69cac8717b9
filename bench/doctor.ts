// SPDX-License-Identifier: Apache-2.0

// Measures how long `grove doctor` takes on a good cluster: on a real control plane with an operator process, whose
// webhooks the API server calls, and on the cluster of `grove up`. A round counts only if every check is ok. The time
// is that of the whole command from a clone, including its start. The first round, which fills caches of compiled
// code, is not counted.
//   npm run bench -- doctor [--rounds=15] [--record]
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { installOperator, realHost } from '@grove/test-scenarios'
import { deployOperator } from '../packages/cli/src/testing/operator-deployment.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, record: { type: 'boolean', default: false } },
})
const rounds = Number(values.rounds)
const root = resolve(import.meta.dirname, '..')
const grove = [join(root, 'packages/cli/bin/grove.mjs')] as const
const run = promisify(execFile)

interface Figures {
  readonly minimum: number
  readonly median: number
  readonly maximum: number
}

const load = loadavg()[0]!
const result = { realControlPlane: await onRealControlPlane(), groveUp: await onGroveUp() }
console.log(JSON.stringify(result, null, 2))
if (values.record)
  writeFileSync(
    join(root, 'bench/results/doctor.json'),
    `${JSON.stringify(
      {
        command: 'npm run bench -- doctor --record',
        date: new Date().toISOString().slice(0, 10),
        machine: { cores: availableParallelism(), loadAverageAtStart: Number(load.toFixed(1)) },
        node: process.versions.node,
        rounds,
        unit: 'milliseconds of the whole command, from a clone',
        ...result,
      },
      null,
      2,
    )}\n`,
  )

async function onRealControlPlane(): Promise<Figures> {
  const host = await realHost()
  try {
    const installed = await installOperator(host)
    await deployOperator(host, JSON.parse(readFileSync(installed.launch.config, 'utf8')) as object)
    const operator = await installed.start()
    try {
      return await measure(host.kubeconfigFor({ user: 'kubernetes-admin', groups: ['system:masters'] }))
    } finally {
      operator.kill()
    }
  } finally {
    await host.stop()
  }
}

async function onGroveUp(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'grove-doctor-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const cluster = spawn(process.execPath, [...grove, 'up', '--kubeconfig', kubeconfig], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    await once(cluster.stdout, 'data')
    return await measure(kubeconfig)
  } finally {
    cluster.kill()
    await once(cluster, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(kubeconfig: string): Promise<Figures> {
  const times: number[] = []
  for (let round = -1; round < rounds; round++) {
    const start = performance.now()
    const { stdout } = await run(process.execPath, [...grove, 'doctor', '--kubeconfig', kubeconfig])
    const took = performance.now() - start
    const lines = stdout.trimEnd().split('\n')
    if (!lines.every(line => line.startsWith('✓'))) throw new Error(`a check is not ok:\n${stdout}`)
    if (round >= 0) times.push(took)
  }
  const sorted = times.map(Math.round).toSorted((a, b) => a - b)
  return { minimum: sorted[0]!, median: sorted[Math.floor(sorted.length / 2)]!, maximum: sorted.at(-1)! }
}
