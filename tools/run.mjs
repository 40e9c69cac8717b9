// SPDX-License-Identifier: Apache-2.0

// Runs a TypeScript program of this repository, whatever Node the machine has: installs the packages when they
// are missing or older than package-lock.json, then uses a Node that can run TypeScript (24 or newer): this one,
// or the one of the npm package for this platform. Compiled code is kept below node_modules, which halves the time that
// a command takes to start. Plain JavaScript for old Nodes; it is the only such file.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Before anything that takes time, so that a parent that ends meanwhile is noticed.
const parent = process.ppid
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const wanted = 24
const parentCheckMs = 500
const [program, ...words] = process.argv.slice(2)

installIfNeeded()
endWithParent()
// npm goes to the root of the repository; a path that somebody types is meant from where that person is.
if (program.startsWith('packages/') && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules', '.cache', 'compiled')
const file = resolve(root, program)
if (majorOf(process.version) >= wanted) {
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  process.argv = [process.argv[0], file, ...words]
  await import(pathToFileURL(file).href)
} else {
  const child = spawn(findNode(), [file, ...words], { stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    // Without our handlers the signal ends this process as it ended the child.
    for (const each of signals) process.removeAllListeners(each)
    if (signal) process.kill(process.pid, signal)
    else process.exit(code ?? 1)
  })
}

/**
 * npm sends SIGTERM to the shell that runs its script, and shells such as dash end without passing it on. The program
 * would live on as an orphan, so it stops when the shell is gone. `exec` in the scripts would do the same, but not on
 * Windows. There this never happens: a process keeps the number of its parent.
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

/** Names of the npm packages that hold a Node: locked with their checksums, and installed without any script. */
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
