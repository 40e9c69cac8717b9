// SPDX-License-Identifier: Apache-2.0

// `grove dashboard` as a process, on a cluster with the operator.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { OverviewDocument, SetDocument } from '@grove/dashboard'
import { freePorts, waitFor } from '@grove/test-kubernetes'
import { blocksOfTest } from '../../../../tools/checks/markdown.ts'
import { type EmbeddedCluster, startEmbedded } from '../testing/embedded-cluster.ts'
import { call } from '../testing/grove-call.ts'
import { startGrove } from '../testing/grove-process.ts'

/** The command of the documentation, with its own port because tests share the machine. */
async function argumentsOfThePage(): Promise<string[]> {
  const root = resolve(import.meta.dirname, '../../../..')
  const [block, ...others] = blocksOfTest(root, 'packages/cli/src/commands/dashboard.test.ts')
  assert.deepEqual([block?.page, others], ['docs/operations/dashboard.md', []])
  const [, text = ''] = /^npx grove (.* --port )9450\n$/.exec(block?.text ?? '') ?? []
  assert.ok(text, 'the page shows another command')
  const [port = 0] = await freePorts(1)
  return `${text}${port}`.split(' ')
}

const manifest = `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: llm}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec: {roleName: web, replicas: 2, podSpec: {containers: [{name: main, image: registry.example/web:1}]}}
`

describe('grove dashboard', () => {
  let cluster: EmbeddedCluster
  let namespace: string

  before(async () => {
    cluster = await startEmbedded()
    namespace = await cluster.newNamespace()
    const target = ['--kubeconfig', cluster.kubeconfig, '-n', namespace]
    const { status, stderr } = await call(['apply', '-f', '-', ...target], { input: manifest })
    assert.equal(status, 0, stderr)
  })
  after(() => cluster?.stop())

  test('prints its address, shows a set that the operator rolls out, and ends with exit code 0', async () => {
    const grove = startGrove([...(await argumentsOfThePage()), '--kubeconfig', cluster.kubeconfig])
    try {
      await grove.shows(/http:\/\/127\.0\.0\.1:\d+\//)
      const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\//.exec(grove.stdout()) ?? []
      const read = async <T>(path: string) => (await (await fetch(new URL(path, url))).json()) as T
      await waitFor('the set to be available', async () => {
        const { sets } = await read<Partial<OverviewDocument>>('api/overview')
        return sets?.[0]?.state === 'Available'
      })
      const { tree, pods, gangs } = await read<SetDocument>(`api/sets/${namespace}/llm`)
      assert.equal(tree.children[0]?.children[0]?.readyReplicas, 2)
      assert.equal(pods['llm-0-web']?.rows.length, 2)
      assert.equal(gangs[0]?.phase, 'Running')
      assert.match(await (await fetch(url)).text(), /<title>Grove<\/title>/)
    } finally {
      grove.child.kill('SIGTERM')
    }
    assert.equal(await grove.ended, 0, grove.stderr())
  })

  test('rejects a wrong or used port', async () => {
    const wrong = await call(['dashboard', '--kubeconfig', cluster.kubeconfig, '--port', '70000'])
    assert.deepEqual([wrong.status, wrong.stderr], [2, 'grove: --port must be at most 65535, not 70000\n'])
    const port = new URL(/server: (\S+)/.exec(readFileSync(cluster.kubeconfig, 'utf8'))?.[1] ?? '').port
    const used = await call(['dashboard', '--kubeconfig', cluster.kubeconfig, '--port', port])
    assert.match(used.stderr, new RegExp(`port ${port} is in use; set another --port`))
  })
})
