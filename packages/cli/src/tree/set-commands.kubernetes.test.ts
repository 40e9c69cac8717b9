// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { type Client, createClient, EventRecorder, eventSink, loadKubeconfig, systemClock } from '@grove/kube'
import { type RunningOperator, recordedEvents, startOperator } from '@grove/operator'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { call } from '../testing/grove-call.ts'
import { startGrove } from '../testing/grove-process.ts'
import { causeOfStuck, setWithoutRoom } from '../testing/same-cause.ts'
import { testSetCommands } from '../testing/set-commands.ts'

describe('sets of real Kubernetes', () => {
  let kubernetes: Kubernetes
  let client: Client
  let operator: RunningOperator
  let recorder: EventRecorder

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 2 })
    client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
    const { stdout: input } = await call(['crds'])
    const applied = await call(['apply', '-f', '-', '--kubeconfig', kubernetes.kubeconfig], { input })
    assert.equal(applied.status, 0, applied.stderr)
    await kubernetes.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s')
    recorder = new EventRecorder({ sink: eventSink(client), clock: systemClock })
    operator = await startOperator(client, {
      configuration: defaultConfiguration(),
      waiterImage: 'grove-initc:test',
      events: recordedEvents(recorder),
    })
  })
  after(async () => {
    await operator?.stop()
    await recorder?.stop(1_000)
    await client?.close()
    await kubernetes?.stop()
  })

  testSetCommands(
    () => kubernetes.kubeconfig,
    () => kubernetes.newNamespace('sets'),
  )

  const kubectl =
    (kubeconfig: string) =>
    async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await kubernetes.kubectl(...args, { kubeconfig })
      assert.equal(code, 0, stderr)
      return stdout
    }

  test('kubectl and grove status show the same cause for a set that does not fit', async () => {
    const { kubeconfig } = kubernetes
    const namespace = await kubernetes.newNamespace('large')
    await kubernetes.apply(setWithoutRoom, '-n', namespace)
    const stuck = { name: 'large', namespace, kubeconfig, kubectl: kubectl(kubeconfig) }
    assert.match(await causeOfStuck(stuck), /2 Insufficient nvidia\.com\/gpu/)
  })

  test('the demo and the commands on the embedded cluster show the same cause', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'grove-demo-'))
    const kubeconfig = join(folder, 'kubeconfig')
    const args = ['up', '--demo', '--nodes', '5', '--kubeconfig', kubeconfig]
    const demo = startGrove(args, { environment: { TMPDIR: folder } })
    try {
      await demo.shows(/^llm is not ready: /m)
      const stuck = { name: 'llm', namespace: 'default', kubeconfig, kubectl: kubectl(kubeconfig) }
      const cause = await causeOfStuck(stuck)
      const [reported] = /^llm is not ready: .*$/m.exec(demo.stdout())!
      assert.ok(reported.endsWith(cause), `${reported}\n${cause}`)
    } finally {
      demo.child.kill()
      await demo.ended
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
