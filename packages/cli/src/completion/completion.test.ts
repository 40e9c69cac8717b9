// SPDX-License-Identifier: Apache-2.0

// The candidates of `grove __complete`, and the script of a real bash.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type EmbeddedCluster, startEmbedded } from '../testing/embedded-cluster.ts'
import { call } from '../testing/grove-call.ts'
import { grove } from '../testing/grove-process.ts'

const main = resolve(import.meta.dirname, '../main.ts')

async function completed(line: string): Promise<string[]> {
  const { status, stdout, stderr } = await call(['__complete', ...line.split(' ')])
  assert.deepEqual([status, stderr], [0, ''])
  return stdout
    .trimEnd()
    .split('\n')
    .map(each => each.split('\t')[0]!)
}

describe('candidates without a cluster', () => {
  // A running `grove up` of the contributor would be a cluster.
  const { KUBECONFIG } = process.env
  before(() => {
    process.env.KUBECONFIG = '/nonexistent/kubeconfig'
  })
  after(() => {
    if (KUBECONFIG === undefined) delete process.env.KUBECONFIG
    else process.env.KUBECONFIG = KUBECONFIG
  })

  const table: [line: string, candidates: string[]][] = [
    ['va', ['validate', ':4']],
    ['--v', ['--version', ':4']],
    ['rollout re', ['restart', 'resume', ':4']],
    ['get -o js', ['json', 'jsonpath=', 'jsonpath-as-json=', 'jsonpath-file=', ':4']],
    ['get --output=y', ['--output=yaml', ':4']],
    ['get --so', ['--sort-by', ':4']],
    ['get pods --no-h', ['--no-headers', ':4']],
    ['delete --cascade ', ['background', 'foreground', 'orphan', ':4']],
    ['apply -f ', [':0']],
    ['apply -f a.yaml ', [':0']],
    ['validate --config=', [':0']],
    ['get --selector ', [':4']],
    ['completion ', ['bash', 'zsh', 'fish', ':4']],
    ['completion bash ', [':4']],
    ['node add ', [':4']],
    ['nonsense -', ['-V', '-h', ':4']],
    ['scale -- --rep', [':4']],
  ]
  for (const [line, candidates] of table)
    it(JSON.stringify(line), async () => {
      const found = await completed(line)
      assert.deepEqual(
        line === 'nonsense -' ? found.filter(each => !each.startsWith('--')) : found,
        candidates,
      )
    })

  it('describes commands', async () => {
    const { stdout } = await call(['__complete', 'vali'])
    assert.equal(stdout, 'validate\tValidate manifests as admission would, without a cluster\n:4\n')
  })

  it('offers nothing if there is no cluster, without a message', async () => {
    assert.deepEqual(await completed('get --kubeconfig /nope '), [':4'])
    assert.deepEqual(await completed('status --kubeconfig /nope '), [':4'])
  })

  it('rejects an unknown shell', async () => {
    const { status, stderr } = await call(['completion', 'tcsh'])
    assert.equal(status, 2)
    assert.match(stderr, /Allowed choices are bash, zsh, fish/)
  })
})

describe('candidates of a cluster', () => {
  let cluster: EmbeddedCluster
  let namespace: string
  const at = (line: string) =>
    completed(line.replace('@', `--kubeconfig ${cluster.kubeconfig} -n ${namespace}`))

  before(async () => {
    cluster = await startEmbedded(2)
    namespace = await cluster.newNamespace()
    const set = (name: string) => ({
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodCliqueSet',
      metadata: { name },
      spec: {
        replicas: 1,
        template: {
          cliques: [
            {
              name: 'web',
              spec: {
                roleName: 'web',
                replicas: 1,
                podSpec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
              },
            },
          ],
        },
      },
    })
    const applied = await call(['apply', '-f', '-', '-n', namespace, '--kubeconfig', cluster.kubeconfig], {
      input: [set('llm'), set('llama')].map(each => JSON.stringify(each)).join('\n---\n'),
    })
    assert.equal(applied.status, 0, applied.stderr)
  })
  after(() => cluster?.stop())

  it('types, names, TYPE/NAME, sets, nodes and namespaces', async () => {
    assert.deepEqual(await at('get @ podcliq'), [
      'podcliques',
      'podcliquescalinggroups',
      'podcliquesets',
      ':4',
    ])
    assert.deepEqual((await at('get @ pcs ')).sort(), [':4', 'llama', 'llm'])
    assert.deepEqual(await at('delete @ pcs/llm'), ['pcs/llm', ':4'])
    assert.deepEqual((await at('status @ ')).sort(), [':4', 'llama', 'llm'])
    assert.deepEqual(await at('rollout restart @ lla'), ['llama', ':4'])
    assert.deepEqual((await at('node kill @ ')).length, 3)
    assert.deepEqual(await completed(`get --kubeconfig ${cluster.kubeconfig} -n kube-s`), [
      'kube-system',
      ':4',
    ])
    assert.deepEqual(await completed(`get --kubeconfig ${cluster.kubeconfig} --namespace=kube-s`), [
      '--namespace=kube-system',
      ':4',
    ])
    assert.deepEqual(await at('get @ nonsense '), [':4'])
  })

  it('a real bash completes with the script', { skip: !existsSync('/bin/bash') }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'grove-completion-'))
    try {
      const program = join(folder, 'grove')
      writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`)
      chmodSync(program, 0o755)
      writeFileSync(join(folder, 'script'), (await grove(['completion', 'bash'])).stdout)
      const script = `
        source ${folder}/script
        COMP_LINE=$1 COMP_POINT=\${#1}
        _grove
        printf '%s\\n' "\${COMPREPLY[@]}"`
      const environment = {
        ...process.env,
        PATH: `${folder}:${process.env.PATH}`,
        KUBECONFIG: cluster.kubeconfig,
      }
      const replies = (line: string) =>
        new Promise<string[]>((done, failed) =>
          execFile('/bin/bash', ['-c', script, 'bash', line], { env: environment }, (error, stdout) =>
            error ? failed(error) : done(stdout.trimEnd().split('\n')),
          ),
        )
      assert.deepEqual(await replies('grove rollout re'), ['restart', 'resume'])
      // bash has split the word at the equals sign.
      assert.deepEqual(await replies('grove get --output=na'), ['name'])
      assert.deepEqual(await replies(`grove tree -n ${namespace} lla`), ['llama'])
      assert.deepEqual(await replies('grove completion '), ['bash', 'zsh', 'fish'])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
