// SPDX-License-Identifier: Apache-2.0

// Runs a TypeScript program of this repository with any installed Node. It installs the packages if they are missing or
// older than package-lock.json. Then it uses a Node that can run TypeScript (24 or newer): this one, or the one of the
// npm package for this platform. Compiled code is cached below node_modules, which halves the start time of a command.
// This is the only file in plain JavaScript, for old versions of Node.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Read first, so that an exit of the parent during slow steps is detected.
const parent = process.ppid
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const wanted = 24
const parentCheckMs = 500
const [program, ...args] = process.argv.slice(2)

installIfNeeded()
endWithParent()
// npm changes to the root of the repository; paths in arguments are relative to the directory of the user.
if (program.startsWith('packages/') && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'compiled')
const file = resolve(root, program)
if (majorOf(process.version) >= wanted) {
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  process.argv = [process.argv[0], file, ...args]
  await import(pathToFileURL(file).href)
} else {
  const child = spawn(findNode(), [file, ...args], { stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    // With the default handlers the signal ends this process like the child.
    for (const each of signals) process.removeAllListeners(each)
    if (signal) process.kill(process.pid, signal)
    else process.exit(code ?? 1)
  })
}

/**
 * npm sends SIGTERM to the shell that runs its script, and shells such as dash do not forward it. The program would
 * keep running as an orphan, so it stops when the shell has exited. `exec` in the scripts would do the same, but not on
 * Windows. On Windows the parent id never changes, so that this check has no effect.
 */
function endWithParent() {
  if (process.env.npm_lifecycle_event === undefined) return
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, parentCheckMs)
  timer.unref()
}

function installIfNeeded() {
  const installed = join(root, 'node_modules', '.package-lock.json')
  const lock = join(root, 'package-lock.json')
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return
  process.stderr.write('Installing packages (npm ci) …\n')
  const done = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (done.status !== 0)
    stop('npm ci failed; its own message is above. The package registry must be reachable.')
}

/** Finds the Node of an npm package. The lock file has its checksum, and no install script runs. */
function findNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  const name = `${prefix}-${platform}-${process.arch}`
  const binary = process.platform === 'win32' ? 'node.exe' : 'node'
  const bundled = join(root, 'node_modules', name, 'bin', binary)
  if (existsSync(bundled)) return bundled
  stop(
    `Node ${wanted} or newer is needed and this is ${process.version}. The npm package ${name} would bring it, but it ` +
      `is not installed. Either install Node ${wanted} or newer, or run: npm ci --include=optional`,
  )
}

function majorOf(version) {
  return Number(/^v(\d+)/.exec(version)[1])
}

function stop(text) {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}
