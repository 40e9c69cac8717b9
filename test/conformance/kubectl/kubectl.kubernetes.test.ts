// SPDX-License-Identifier: Apache-2.0

// The real kubectl on the embedded cluster and on real Kubernetes: the same commands print the same output.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type SessionCluster, startEmbedded, startReal } from './clusters.ts'
import { differences } from './differences.ts'
import { Kubectl } from './kubectl.ts'
import { allSessions } from './sessions/index.ts'
import { setManifest } from './sessions/sets.ts'
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

  for (const [index, cluster] of ['real Kubernetes', 'the embedded cluster'].entries())
    it(`wait --for=condition=Available follows the loss of a pod on ${cluster}`, async t => {
      const shell = new Shell(kubectls[index]!, 'session-available')
      await shell.begin()
      const nodes = (await shell.silently('get nodes -o name')).trim().replaceAll('\n', ' ')
      const available = 'wait --for=condition=Available pcs/llm --timeout=120s'
      const reason = 'get pcs llm -o jsonpath={.status.conditions[?(@.type=="Available")].reason}'
      try {
        await shell.silently('apply -f -', { input: setManifest() })
        await shell.silently(available)
        assert.equal(await shell.silently(reason), 'AllReplicasAvailable')
        // The replacement of the pod must not be scheduled before the test has seen its loss.
        await shell.silently(`cordon ${nodes}`)
        const lost = shell.begins('wait --for=condition=Available=false pcs/llm --timeout=120s')
        const [pod] = (await shell.silently('get pods -l grove.io/podclique=llm-0-router -o name')).split(
          '\n',
        )
        await shell.silently(`delete ${pod} --wait=false`)
        const deleted = performance.now()
        assert.equal((await lost.ended).code, 0)
        t.diagnostic(
          `not Available ${Math.round(performance.now() - deleted)} ms after the deletion of a pod`,
        )
        assert.equal(await shell.silently(reason), 'ReplicasUnavailable')
        await shell.silently(`uncordon ${nodes}`)
        await shell.silently(available)
        assert.equal(await shell.silently(reason), 'AllReplicasAvailable')
      } finally {
        await shell.silently(`uncordon ${nodes}`)
        await shell.end()
      }
    })

  it('explain on the embedded cluster describes the kinds of Grove, and refers to other sources for embedded types', async () => {
    const shell = new Shell(kubectls[1]!, 'session-explain')
    const explain = (path: string) => shell.silently(`explain ${path}`)
    for (const path of ['pcs.spec.template', 'pclq.spec', 'pcsg.spec', 'pg.spec', 'ct.spec'])
      assert.doesNotMatch(await explain(path), /<no description>|<empty>/, path)
    for (const [path, where] of [
      ['pcs.spec.template.cliques.spec.podSpec', 'kubectl explain pod.spec'],
      ['pclq.spec.podSpec', 'kubectl explain pod.spec'],
      ['pcsg.metadata', 'https://kubernetes.io/docs/reference/kubernetes-api/'],
      ['pod.spec', 'https://kubernetes.io/docs/reference/kubernetes-api/'],
      ['pod.spec.containers', 'https://kubernetes.io/docs/reference/kubernetes-api/'],
    ] as const)
      assert.ok((await explain(path)).replaceAll(/\s+/g, ' ').includes(where), path)
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
