// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isAlive } from './pids.ts'
import { type Command, Supervisor } from './processes.ts'
import { waitFor } from './wait.ts'

function program(directory: string, source: string): Command {
  return {
    command: process.execPath,
    args: ['-e', source],
    env: {},
    directory,
    log: join(directory, 'log'),
  }
}

const idle = 'setInterval(() => {}, 1000)'
const newDirectory = () => mkdtempSync(join(tmpdir(), 'grove-processes-test-'))

async function superviseIdle() {
  const directory = newDirectory()
  const supervisor = await Supervisor.start()
  await supervisor.removeAtEnd(directory)
  const process = await supervisor.spawn(program(directory, idle))
  return { directory, supervisor, process }
}

test('stop ends the processes and removes the directory', async () => {
  const { directory, supervisor, process } = await superviseIdle()
  assert.ok(isAlive(process.pid))
  await supervisor.stop()
  assert.ok(!isAlive(process.pid))
  assert.ok(!existsSync(directory))
  assert.deepEqual(await process.exited, { code: null, signal: 'SIGKILL' })
  await supervisor.stop()
  await assert.rejects(supervisor.spawn(program('/', idle)), /was stopped/)
})

test('the output of a process is in its log, and its exit is reported', async () => {
  const directory = newDirectory()
  const supervisor = await Supervisor.start()
  await supervisor.removeAtEnd(directory)
  const { exited } = await supervisor.spawn(
    program(directory, 'console.log(1); console.error(2); process.exit(3)'),
  )
  assert.deepEqual(await exited, { code: 3, signal: null })
  assert.equal(readFileSync(join(directory, 'log'), 'utf8'), '1\n2\n')
  await supervisor.stop()
})

test('a program that cannot be started is an error', async () => {
  const directory = newDirectory()
  const supervisor = await Supervisor.start()
  await supervisor.removeAtEnd(directory)
  const missing = { ...program(directory, ''), command: join(directory, 'missing') }
  await assert.rejects(supervisor.spawn(missing), /ENOENT/)
  await supervisor.stop()
})

test('ends a paused process', async () => {
  const { supervisor, process } = await superviseIdle()
  await supervisor.signal(process.pid, 'SIGSTOP')
  await supervisor.stop()
  assert.ok(!isAlive(process.pid))
})

test('when the supervisor is killed, this process ends the others', async () => {
  const { directory, supervisor, process: supervised } = await superviseIdle()
  process.kill(supervisor.pid, 'SIGKILL')
  await supervised.exited
  await waitFor('the process to exit', () => !isAlive(supervised.pid))
  await waitFor('the directory to be removed', () => !existsSync(directory))
})

for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const)
  test(`when the process that started them gets ${signal}, nothing stays behind`, async () => {
    const directory = newDirectory()
    const source = `
      const { Supervisor } = await import(${JSON.stringify(join(import.meta.dirname, 'processes.ts'))})
      const supervisor = await Supervisor.start()
      await supervisor.removeAtEnd(${JSON.stringify(directory)})
      const { pid } = await supervisor.spawn(${JSON.stringify(program(directory, idle))})
      process.send({ pid, supervisor: supervisor.pid })
      setInterval(() => {}, 1000)`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const [started] = (await once(parent, 'message')) as [{ pid: number; supervisor: number }]
    assert.ok(isAlive(started.pid))
    parent.kill(signal)
    await once(parent, 'exit')
    await waitFor('the processes to exit', () => !isAlive(started.pid) && !isAlive(started.supervisor))
    assert.ok(!existsSync(directory))
  })
