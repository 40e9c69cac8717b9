// SPDX-License-Identifier: Apache-2.0

// `npm run kubernetes`: runs the control plane from the command line.
import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { help, type Invocation, parseInvocation, type Up, UsageError } from './arguments.ts'
import { buildBinaries } from './build.ts'
import { cacheDirectory } from './cache.ts'
import { nativeGangs, startKubernetes } from './control-plane.ts'
import { kubectlEnvironment } from './kubectl.ts'
import type { Kubernetes } from './kubernetes.ts'
import { copyKubeconfig, findRunning, forgetRunning, rejectForeign, rememberRunning } from './running.ts'
import { gatedStages } from './stages.ts'

try {
  process.exitCode = await run(parseInvocation(process.argv.slice(2)))
} catch (error) {
  const hint = error instanceof UsageError ? '\nTry: npm run kubernetes -- --help' : ''
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${hint}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function run(invocation: Invocation): Promise<number> {
  switch (invocation.kind) {
    case 'help':
      process.stdout.write(help)
      return 0
    case 'build':
      await buildBinaries()
      return 0
    case 'kubectl':
      return kubectl(invocation.args)
    case 'up':
      return up(invocation)
  }
}

async function kubectl(args: readonly string[]): Promise<number> {
  const kubeconfig = findRunning(cacheDirectory())
  if (!kubeconfig) throw new Error('No control plane is up. Start one with: npm run kubernetes -- up')
  const { controlPlane } = await buildBinaries()
  const env = kubectlEnvironment(kubeconfig, join(cacheDirectory(), 'kubectl'))
  const child = spawn(controlPlane, ['kubectl', ...args], { env, stdio: 'inherit' })
  // The terminal sends Ctrl-C to kubectl as well, and kubectl handles it.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const { promise, resolve: ended, reject } = Promise.withResolvers<number>()
  child.once('error', reject)
  child.once('exit', code => ended(code ?? 1))
  return promise
}

async function up(options: Up): Promise<number> {
  const stages = options.stages ? readFileSync(options.stages, 'utf8') : undefined
  if (options.kubeconfig) rejectForeign(options.kubeconfig)
  const started = performance.now()
  await using kubernetes = await startKubernetes({
    nodes: options.nodes,
    gpus: options.gpus,
    stages: options.gated ? gatedStages : stages,
    featureGates: { ...(options.nativeGangs ? nativeGangs.featureGates : {}), ...options.featureGates },
    runtimeConfig: { ...(options.nativeGangs ? nativeGangs.runtimeConfig : {}), ...options.runtimeConfig },
    controllers: options.controllers,
    scheduler: options.scheduler,
    kwok: options.kwok,
    dataDirectory: options.data && resolve(options.data),
    logDirectory: options.logs && resolve(options.logs),
  })
  const { kubeconfig } = kubernetes
  try {
    if (options.kubeconfig) copyKubeconfig(kubeconfig, options.kubeconfig)
    rememberRunning(cacheDirectory(), kubeconfig)
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    process.stdout.write(instructions(kubernetes, options, seconds))
    return await untilSignal(kubernetes)
  } finally {
    forgetRunning(cacheDirectory(), kubeconfig)
    if (options.kubeconfig) removeCopy(options.kubeconfig, kubeconfig)
  }
}

function instructions(kubernetes: Kubernetes, { nodes, kubeconfig }: Up, seconds: string): string {
  return `Kubernetes ${kubernetes.version} is up at ${kubernetes.server} with ${nodes} nodes, after ${seconds} s.

  npm run kubernetes -- kubectl get nodes

or with a kubectl of your own:

  export KUBECONFIG=${kubeconfig ? resolve(kubeconfig) : kubernetes.kubeconfig}

Logs: ${kubernetes.logDirectory}
Ctrl-C stops it and removes its files.
`
}

/** Returns the exit code: 0 after a signal, 1 if a component has exited. */
async function untilSignal(kubernetes: Kubernetes): Promise<number> {
  const signalled = Promise.withResolvers<void>()
  let isSignalled = false
  const onSignal = () => {
    // A second signal exits at once; the supervisor still cleans up.
    if (isSignalled) process.exit(130)
    isSignalled = true
    signalled.resolve()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  while (!isSignalled) {
    const ended = kubernetes.components.find(name => kubernetes.state(name) === 'ended')
    if (ended) {
      const tail = kubernetes.logs(ended).trimEnd().split('\n').slice(-20).join('\n')
      process.stderr.write(`${ended} exited. The end of its log:\n${tail}\n`)
      return 1
    }
    await Promise.race([signalled.promise, sleep(500)])
  }
  return 0
}

// Another `up` may have written its own kubeconfig to the same file meanwhile.
function removeCopy(copy: string, original: string): void {
  try {
    if (readFileSync(copy, 'utf8') === readFileSync(original, 'utf8')) rmSync(copy)
  } catch {
    // The file does not exist, which is the goal.
  }
}
