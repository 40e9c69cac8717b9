// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from './index.ts'
import { isAlive } from './pids.ts'

const pod = { apiVersion: 'v1', kind: 'Pod', spec: { containers: [{ name: 'main', image: 'nowhere' }] } }
const createPod = (kubernetes: Kubernetes, name: string) =>
  kubernetes.request('POST', '/api/v1/namespaces/default/pods', { body: { ...pod, metadata: { name } } })
const phaseOf = async (kubernetes: Kubernetes, name: string) =>
  (await kubernetes.request<{ status: { phase: string } }>('GET', `/api/v1/namespaces/default/pods/${name}`))
    .status.phase

test('components can be paused, killed and restarted without data loss', async () => {
  await using kubernetes = await startKubernetes({ nodes: 2 })
  const runs = (name: string) =>
    waitFor(`pod ${name} to run`, async () => (await phaseOf(kubernetes, name)) === 'Running')

  await kubernetes.pause('kube-scheduler')
  assert.equal(kubernetes.state('kube-scheduler'), 'paused')
  await createPod(kubernetes, 'a')
  assert.equal(await phaseOf(kubernetes, 'a'), 'Pending')
  await kubernetes.resume('kube-scheduler')
  await runs('a')

  await kubernetes.kill('kwok')
  assert.equal(kubernetes.state('kwok'), 'ended')
  assert.equal(kubernetes.pid('kwok'), undefined)
  await createPod(kubernetes, 'b')
  await kubernetes.start('kwok')
  await runs('b')

  for (const name of ['kube-apiserver', 'etcd', 'kube-controller-manager'] as const) {
    const before = kubernetes.pid(name)
    await kubernetes.restart(name)
    assert.notEqual(kubernetes.pid(name), before)
  }
  await waitFor('the pods to exist still', async () => (await phaseOf(kubernetes, 'a')) === 'Running')
  await createPod(kubernetes, 'c')
  await runs('c')

  await kubernetes.pause('etcd')
  await kubernetes.pause('kube-apiserver')
  const pids = kubernetes.components.map(name => kubernetes.pid(name)!)
  await kubernetes.stop()
  assert.ok(pids.every(pid => !isAlive(pid)))
  await kubernetes.stop()
})

interface Abandoned {
  readonly pids: readonly number[]
  readonly supervisor: number
  readonly directory: string
}

function startElsewhere(...args: string[]) {
  const source = `
    const { startKubernetes } = await import(${JSON.stringify(join(import.meta.dirname, 'index.ts'))})
    const kubernetes = await startKubernetes({ nodes: 2 })
    await kubernetes.pause('kube-scheduler')
    process.send({
      pids: kubernetes.components.map(name => kubernetes.pid(name)),
      supervisor: kubernetes.supervisorPid,
      directory: kubernetes.directory,
    })
    if (process.argv[1] !== 'leave') setInterval(() => {}, 1000)`
  return spawn(process.execPath, ['--input-type=module', '-e', source, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

async function nothingIsLeft({ pids, supervisor, directory }: Abandoned) {
  await waitFor('every process to exit', () => [...pids, supervisor].every(pid => !isAlive(pid)))
  assert.ok(!existsSync(directory))
}

test('a parent that is killed leaves no process and no file behind', async () => {
  const parent = startElsewhere()
  const [abandoned] = (await once(parent, 'message')) as [Abandoned]
  assert.equal(abandoned.pids.length, 5)
  assert.ok(abandoned.pids.every(isAlive))
  parent.kill('SIGKILL')
  await nothingIsLeft(abandoned)
})

test('a program that does not stop its control plane exits, and the control plane with it', async () => {
  const parent = startElsewhere('leave')
  const [abandoned] = (await once(parent, 'message')) as [Abandoned]
  await once(parent, 'exit')
  await nothingIsLeft(abandoned)
})

test('a supervisor that is killed ends the components', async () => {
  await using kubernetes = await startKubernetes()
  const pids = kubernetes.components.map(name => kubernetes.pid(name)!)
  process.kill(kubernetes.supervisorPid, 'SIGKILL')
  await waitFor('every process to exit', () => pids.every(pid => !isAlive(pid)))
  await waitFor('the states to be reported', () =>
    kubernetes.components.every(name => kubernetes.state(name) === 'ended'),
  )
  assert.ok(!existsSync(kubernetes.directory))
})
