// SPDX-License-Identifier: Apache-2.0

// The real kubectl on the embedded cluster and on real Kubernetes: the same commands print the same output.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type SessionCluster, startEmbedded, startReal } from './clusters.ts'
import { differences } from './differences.ts'
import { Kubectl } from './kubectl.ts'
import { allSessions } from './sessions/index.ts'
import { Shell } from './shell.ts'

describe('kubectl', () => {
  const clusters: SessionCluster[] = []
  const kubectls: Kubectl[] = []

  before(async () => {
    clusters.push(...(await Promise.all([startReal(), startEmbedded()])))
    for (const { kubeconfig } of clusters) kubectls.push(await Kubectl.for(kubeconfig))
  })
  after(async () => {
    for (const kubectl of kubectls) kubectl.close()
    await Promise.all(clusters.map(cluster => cluster.stop()))
  })

  for (const [index, { title, hold }] of allSessions.entries())
    it(title, async () => {
      const [real, embedded] = await Promise.all(
        kubectls.map(async kubectl => {
          const shell = new Shell(kubectl, `session-${index}`)
          await shell.begin()
          await hold(shell)
          await shell.end()
          return shell.transcript
        }),
      )
      assert.deepEqual(differences(real!, embedded!), [])
    })

  it('commands that need a container are rejected on the embedded cluster, with the reason', async () => {
    const shell = new Shell(kubectls[1]!, 'session-simulated')
    await shell.begin()
    await shell.types('run web --image=registry.example/web:1 --port=80')
    await shell.types('wait --for=condition=Ready pod/web --timeout=120s')
    shell.file('some.txt', 'text')
    for (const [command, part] of [
      ['exec web -- true', 'exec'],
      ['attach web', 'attach'],
      ['cp some.txt web:/tmp/some.txt', 'exec'],
      ['port-forward pod/web 0:80 --address=127.0.0.1', 'portforward'],
    ])
      assert.match(
        await shell.isRejected(command!),
        new RegExp(`pod web is simulated: there is no container behind it that ${part} could reach`),
      )
    assert.match(
      await shell.isRejected('logs web --previous'),
      /previous terminated container "web" in pod "web"/,
    )
    await shell.types('logs web')
    await shell.end()
  })
})
