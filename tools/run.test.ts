// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { after, describe, test } from 'node:test'
import { defineResource, type KubeObject } from '@grove/kube'
import { freePorts, waitFor } from '@grove/test-kubernetes'
import { embeddedHost, installOperator, type OperatorHost, operatorNamespace } from '@grove/test-scenarios'
import { blocksOfTest } from './checks/markdown.ts'

const root = resolve(import.meta.dirname, '..')
const page = 'docs/operations/README.md'
const blocks = blocksOfTest(root, 'tools/run.test.ts')

test('paths are relative to the directory where npm was called, not to the root of the repository', () => {
  const args = ['tools/run.mjs', 'packages/cli/src/main.ts', 'validate', '-f', 'podcliqueset.yaml']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    env: { ...process.env, INIT_CWD: resolve(root, 'playground/disaggregated') },
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.deepEqual([status, stderr], [0, ''])
  assert.match(stdout, /^✓ PodCliqueSet llm\n/)
})

const leases = defineResource<KubeObject & { readonly spec?: { readonly holderIdentity?: string } }>({
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
  kind: 'Lease',
  namespaced: true,
})

describe('a signal to npm reaches the program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grove-npm-'))
  const groups: number[] = []
  after(() => {
    for (const group of groups) endGroup(group)
    rmSync(folder, { recursive: true, force: true })
  })

  /** Starts a process group, so that a failed test leaves no process behind. */
  function start(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    const child = spawn(command, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    groups.push(child.pid!)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    return { child, output: () => output }
  }

  test(`the blocks of ${page} are these two commands`, () => {
    assert.deepEqual(
      blocks.map(block => [block.page, block.heading]),
      [
        [page, 'Run'],
        [page, 'The gang scheduler'],
      ],
    )
  })

  test('npm run operator: the operator stops and releases its lease', async () => {
    await using host = await startedHost()
    const { launch } = await installOperator(host)
    const { KUBECONFIG } = launch.env
    await runBlock(host, 'Run', launch.config, KUBECONFIG!, 'grove-operator-leader-election')
    await waitFor('the probes to be closed', () => rejects(launch.ports.probes))
  })

  test('npm run scheduler: the gang scheduler stops and releases its lease', async () => {
    await using host = await startedHost()
    await installOperator(host)
    const [metrics, probes] = await freePorts(2)
    const config = join(host.directory, 'scheduler.json')
    const bindAddress = '127.0.0.1'
    writeFileSync(
      config,
      JSON.stringify({
        apiVersion: 'scheduler.config.grove.io/v1alpha1',
        kind: 'SchedulerConfiguration',
        leaderElection: { enabled: true },
        metrics: { bindAddress, port: metrics },
        healthProbes: { bindAddress, port: probes },
      }),
    )
    const administrator = host.kubeconfigFor({ user: 'kubernetes-admin', groups: ['system:masters'] })
    await runBlock(host, 'The gang scheduler', config, administrator, 'grove-scheduler-leader-election')
    await waitFor('the probes to be closed', () => rejects(probes!))
  })

  /** Runs the command of the page until it holds its lease, and sends SIGTERM. Returns when the lease is released. */
  async function runBlock(
    host: OperatorHost,
    heading: string,
    config: string,
    kubeconfig: string,
    name: string,
  ): Promise<void> {
    const block = blocks.find(each => each.heading === heading)
    const command = `exec env ${block?.text.replace('FILE', config)}`
    const { child, output } = start('bash', ['-c', command], { ...process.env, KUBECONFIG: kubeconfig })
    const holder = async () => {
      const lease = await host.client.find(leases, { namespace: operatorNamespace, name })
      return lease?.spec?.holderIdentity
    }
    const withOutput = (error: Error) => {
      throw new Error(`${error.message}\n${output()}`)
    }
    await waitFor(`the holder of ${name}`, async () => Boolean(await holder())).catch(withOutput)
    child.kill('SIGTERM')
    await waitFor('the lease to be released', async () => !(await holder())).catch(withOutput)
  }

  test('npm start: the cluster stops and removes its files', async () => {
    const env = { ...process.env, TMPDIR: folder }
    const { child, output } = start('npm', ['start', '--', '--nodes', '2'], env)
    await waitFor('the cluster to print its kubeconfig', () => /KUBECONFIG=/.test(output()))
    const before = runFiles(folder)
    assert.notDeepEqual(before, [])
    child.kill('SIGTERM')
    await waitFor('its files to be removed', () => runFiles(folder).length === 0).catch(error => {
      throw new Error(`${error.message}\n${output()}`)
    })
  })

  const old = olderNode()
  test('an older Node that starts the bundled one forwards signals and exits like it', {
    skip: old === undefined && 'no older Node on this machine',
  }, async () => {
    const program = ['tools/run.mjs', 'packages/cli/src/main.ts', 'up', '--nodes', '1']
    const env = { ...process.env, TMPDIR: folder }
    const { child, output } = start(old ?? '', program, env)
    await waitFor('the cluster to print its kubeconfig', () => /KUBECONFIG=/.test(output()))
    child.kill('SIGTERM')
    await ended(child)
    assert.deepEqual([child.exitCode, runFiles(folder)], [0, []], output())
    // If a signal ends the child, the parent ends with the same signal.
    const killed = start(old ?? '', ['tools/run.mjs', 'tools/run.fixture.ts'])
    await ended(killed.child)
    assert.equal(killed.child.signalCode, 'SIGTERM', `${killed.child.exitCode} ${killed.output()}`)
  })
})

async function startedHost(): Promise<OperatorHost & AsyncDisposable> {
  const host = await embeddedHost()
  return { ...host, [Symbol.asyncDispose]: () => host.stop() }
}

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // All processes have exited.
  }
}

function ended(child: ChildProcess): Promise<unknown> {
  return waitFor('the process to exit', () => child.exitCode !== null || child.signalCode !== null)
}

async function rejects(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined)
  return response === undefined
}

/** Lists the folders of running clusters, by user and process. */
function runFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path => /kubeconfig$/.test(path))
}

/** npm itself may run with a Node that is too old for the project. */
function olderNode(): string | undefined {
  const places = (process.env.PATH ?? '').split(delimiter).filter(place => !place.includes('node_modules'))
  return places
    .map(place => join(place, 'node'))
    .find(path => {
      const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
      return Number(/^v(\d+)/.exec(stdout ?? '')?.[1] ?? 99) < 24
    })
}
