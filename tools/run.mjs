// SPDX-License-Identifier: Apache-2.0

// Runs a TypeScript program of this repository, whatever Node the machine has: installs the packages when they
// are missing or older than package-lock.json, then uses a Node that can run TypeScript (24 or newer): this one,
// or the one that the npm package `node` brought. Compiled code is kept below node_modules, which halves the time that
// a command takes to start. Plain JavaScript for old Nodes; it is the only such file.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const wanted = 24
const [program, ...words] = process.argv.slice(2)

installIfNeeded()
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
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    if (signal) process.kill(process.pid, signal)
    else process.exit(code ?? 1)
  })
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

function findNode() {
  const bundled = join(
    root,
    'node_modules',
    'node',
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  )
  if (existsSync(bundled)) return bundled
  stop(
    `Node ${wanted} or newer is needed and this is ${process.version}. The npm package "node" would have brought it, ` +
      'but its install script did not run (scripts are blocked on this machine). Either install Node ' +
      `${wanted} or newer, or run: npm rebuild node`,
  )
}

function majorOf(version) {
  return Number(/^v(\d+)/.exec(version)[1])
}

function stop(text) {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}
