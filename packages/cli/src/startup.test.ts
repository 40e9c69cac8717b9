// SPDX-License-Identifier: Apache-2.0

// The start time of a command is mostly the time to load its modules. This test keeps the large ones out of commands
// that do not need them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

const programFor = (work: string) => `
  const { registerHooks } = await import('node:module')
  const loaded = []
  registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
  await ${work}
  console.log('\\n' + JSON.stringify(loaded))
`

function modulesOf(file: string): string[] {
  return modulesAfter(`import(${JSON.stringify(new URL(file, import.meta.url).href)})`)
}

/** The modules that an expression loads. The last line of the output lists them. */
function modulesAfter(expression: string): string[] {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', programFor(expression)], {
    encoding: 'utf8',
  })
  return JSON.parse(output.trimEnd().split('\n').at(-1)!)
}

const server = /packages\/cluster\/src\/(server|registry)\/|node_modules\/(pino|prom-client)\//
/** The API server without its validation of pods, which `validate` calls. */
const restOfServer =
  /packages\/cluster\/src\/(server|registry(?!\/(validation|defaults)))\/|node_modules\/(pino|prom-client)\//
const operator = /packages\/operator\/src\/(process|podclique|update)\//
const admission = /packages\/api\/src\/admission\/|node_modules\/@marcbachmann\/cel-js\//
const client = /node_modules\/undici\//
const proxy = /node_modules\/(socks|ip-address)\//

const table: [string, readonly RegExp[]][] = [
  ['./main.ts', [server, operator, admission, client]],
  ['./commands/crds.ts', [server, operator, admission, client]],
  ['./commands/validate.ts', [restOfServer, operator, client]],
  ['./commands/status.ts', [server, operator, admission, proxy]],
  ['./commands/tree.ts', [server, operator, admission, proxy]],
  ['./commands/node.ts', [server, operator, admission, proxy]],
  ['./objects/get.ts', [server, operator, admission, proxy]],
  ['./objects/apply.ts', [server, operator, admission, proxy]],
  ['./objects/delete.ts', [server, operator, admission, proxy]],
  ['./objects/scale.ts', [server, operator, admission, proxy]],
  ['./rollout/status.ts', [server, operator, admission, proxy]],
  ['./rollout/history.ts', [server, operator]],
]

const yaml = /node_modules\/yaml\//
const cli = /packages\/cli\/src\/(clusters|doctor|placement|tree)\//
const installer = /packages\/(installer|scheduler|waiter)\//
const sample = new URL('../../../playground/disaggregated/podcliqueset.yaml', import.meta.url).pathname

/** Modules of whole commands, from their start to their end. */
const commands: [string, readonly string[], readonly RegExp[]][] = [
  ['--version', ['--version'], [server, operator, admission, client, yaml, cli, installer]],
  ['--help', ['--help'], [server, operator, admission, client, yaml, cli, installer]],
  ['validate', ['validate', '-f', sample], [restOfServer, operator, client, cli, installer]],
]

for (const [title, args, large] of commands)
  test(`grove ${title} loads only what it needs`, () => {
    const main = new URL('./main.ts', import.meta.url).href
    const modules = modulesAfter(`(await import(${JSON.stringify(main)})).run(${JSON.stringify(args)})`)
    assert.ok(modules.includes(main))
    for (const pattern of large)
      assert.deepEqual(
        modules.filter(url => pattern.test(url)),
        [],
      )
  })

for (const [file, large] of table)
  test(`${file} loads only what it needs`, () => {
    const modules = modulesOf(file)
    assert.ok(modules.some(url => url.endsWith(file.slice(1))))
    for (const pattern of large)
      assert.deepEqual(
        modules.filter(url => pattern.test(url)),
        [],
      )
  })
