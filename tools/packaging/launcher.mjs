#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0

// Starts `grove` or `kubectl grove` of the npm package. Plain JavaScript, because an old Node must be able to run it:
// it then starts the Node of an npm package, or prints what to do.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const wanted = 24
const main = fileURLToPath(new URL('../lib/main.mjs', import.meta.url))
const args = process.argv.slice(2)
const isPlugin = /^kubectl-grove(\.\w+)?$/.test(basename(process.argv[1]))
const isNpx = process.env.npm_lifecycle_event === 'npx'
// The name for commands in messages.
process.env.GROVE_COMMAND = isPlugin ? 'kubectl grove' : isNpx ? 'npx grove' : 'grove'

if (Number(/^v(\d+)/.exec(process.version)[1]) >= wanted) {
  const { enableCompileCache } = await import('node:module')
  enableCompileCache()
  process.argv = [process.argv[0], main, ...args]
  await import(pathToFileURL(main).href)
} else {
  const child = spawn(findNode(), [main, ...args], { stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    // With the default handlers the signal ends this process like the child.
    for (const each of signals) process.removeAllListeners(each)
    if (signal) process.kill(process.pid, signal)
    else process.exit(code ?? 1)
  })
}

function findNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  const name = `${prefix}-${platform}-${process.arch}`
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    process.stderr.write(
      `grove needs Node ${wanted} or newer, and this is ${process.version}. The npm package ${name} would provide it, ` +
        `but it is not installed. Install Node ${wanted} or newer, or reinstall with --include=optional\n`,
    )
    process.exit(1)
  }
}
