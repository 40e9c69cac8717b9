// SPDX-License-Identifier: Apache-2.0

// What the operator asks of a real API server under its own account: nothing that is forbidden.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { type OperatorProcess, operatorUser, startOperatorProcess } from './operator-process.ts'
import { grouped } from './stories/manifests.ts'

interface AuditEvent {
  readonly verb: string
  readonly user: { readonly username: string }
  readonly requestURI: string
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string }
  readonly responseStatus?: { readonly code?: number }
}

describe('the operator under its own account', () => {
  let folder: string
  let kubernetes: Kubernetes
  let operator: OperatorProcess

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'grove-audit-'))
    const policy = join(folder, 'policy.yaml')
    writeFileSync(
      policy,
      JSON.stringify({
        apiVersion: 'audit.k8s.io/v1',
        kind: 'Policy',
        omitStages: ['RequestReceived', 'ResponseStarted'],
        rules: [{ level: 'Metadata', users: [operatorUser] }],
      }),
    )
    kubernetes = await startKubernetes({
      nodes: 10,
      flags: {
        'kube-apiserver': [`--audit-policy-file=${policy}`, `--audit-log-path=${join(folder, 'audit.log')}`],
      },
    })
    operator = await startOperatorProcess(kubernetes, {
      configuration: { topologyAwareScheduling: { enabled: true } },
    })
  })
  after(async () => {
    operator?.kill()
    await kubernetes?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('deploys, scales, updates and deletes without asking for anything forbidden', async () => {
    const team = await kubernetes.newNamespace('audit')
    const kubectl = async (...words: string[]) => {
      const { code, stdout, stderr } = await kubernetes.kubectl(...words, '-n', team)
      assert.equal(code, 0, stderr)
      return stdout
    }
    const pods = async () =>
      (JSON.parse(await kubectl('get', 'pods', '-o', 'json')).items as PodSummary[]).filter(isReady)
    await kubernetes.apply(grouped, '-n', team)
    await waitFor('ten pods', async () => (await pods()).length === 10)
    await kubectl('scale', 'pcsg/grouped-0-eng', '--replicas=3')
    await waitFor('fourteen pods', async () => (await pods()).length === 14)
    await kubectl('scale', 'pcsg/grouped-0-eng', '--replicas=1')
    await waitFor('six pods', async () => (await pods()).length === 6)
    const image = 'registry.example/router:2'
    const path = '/spec/template/cliques/0/spec/podSpec/containers/0/image'
    await kubectl(
      'patch',
      'pcs/grouped',
      '--type=json',
      '-p',
      JSON.stringify([{ op: 'replace', path, value: image }]),
    )
    await waitFor('updated pods', async () => {
      const updated = (await pods()).filter(({ spec }) => spec.containers[0]?.image === image)
      return updated.length === 2
    })
    await kubectl('delete', 'pcs/grouped')
    await waitFor(
      'nothing left',
      async () => (await kubectl('get', 'pods,pclq,pcsg,pg', '-o', 'name')) === '',
    )

    const asked = readFileSync(join(folder, 'audit.log'), 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as AuditEvent)
      .filter(({ user }) => user.username === operatorUser)
    assert.ok(asked.length > 50, 'the audit log knows the operator')
    const refused = asked
      .filter(({ responseStatus }) => responseStatus?.code === 403)
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`)
    assert.deepEqual(refused, [])
    const secrets = asked.filter(({ objectRef }) => objectRef?.resource === 'secrets').map(({ verb }) => verb)
    assert.ok(!secrets.includes('list') && !secrets.includes('watch'), 'Secrets are asked for by name only')
  })
})

interface PodSummary {
  readonly spec: { readonly containers: readonly { readonly image?: string }[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

function isReady({ status }: PodSummary): boolean {
  return (status?.conditions ?? []).some(
    condition => condition.type === 'Ready' && condition.status === 'True',
  )
}
