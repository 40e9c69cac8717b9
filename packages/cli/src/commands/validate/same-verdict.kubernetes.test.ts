// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import {
  type Client,
  createAuthority,
  createClient,
  loadKubeconfig,
  MemoryCertificateSource,
  systemClock,
  WebhookServer,
} from '@grove/kube'
import { admissionHandlers, webhookConfigurations, webhookPaths } from '@grove/operator'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { type EmbeddedCluster, startEmbedded } from '../../testing/embedded-cluster.ts'
import { call } from '../../testing/grove-call.ts'
import { testMemberScaling } from '../../testing/member-scaling.ts'
import { testMistakes } from '../../testing/mistake-table.ts'
import { mistakes } from '../../testing/mistakes.ts'
import { compareVerdicts } from '../../testing/same-verdict.ts'

describe('validate and real Kubernetes return the same verdict', () => {
  let kubernetes: Kubernetes
  let client: Client
  let server: WebhookServer
  const ending = new AbortController()

  before(async () => {
    kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
    client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
    const { stdout: input } = await call(['crds'])
    const applied = await call(['apply', '-f', '-', '--kubeconfig', kubernetes.kubeconfig], { input })
    assert.equal(applied.status, 0, applied.stderr)
    await kubernetes.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s')
    await serveWebhooks()
  })
  after(async () => {
    ending.abort()
    await server?.stop()
    await client?.close()
    await kubernetes?.stop()
  })

  /** Serves the operator's handlers and registrations by address instead of through a Service. */
  async function serveWebhooks(): Promise<void> {
    const configuration = defaultConfiguration()
    const authority = createAuthority('test')
    const certificates = new MemoryCertificateSource()
    certificates.set(authority.server('webhooks', ['127.0.0.1']))
    server = new WebhookServer({ host: '127.0.0.1', port: 0, certificates, clock: systemClock })
    const handlers = admissionHandlers({ client, configuration })
    for (const name of Object.keys(handlers) as (keyof typeof handlers)[])
      server.handle(webhookPaths[name], handlers[name])
    await server.start(ending.signal)
    const caBundle = Buffer.from(authority.pair.cert).toString('base64')
    const registrations = webhookConfigurations({ namespace: 'default', port: 443 }, configuration)
    await kubernetes.apply(
      registrations.map(registration => ({
        ...registration,
        webhooks: registration.webhooks?.map(({ clientConfig, ...webhook }) => ({
          ...webhook,
          clientConfig: { url: `https://127.0.0.1:${server.port}${clientConfig.service?.path}`, caBundle },
        })),
      })),
    )
    // The API server uses new webhook configurations after a short delay.
    const { manifest } = mistakes.find(({ title }) => title === 'a role twice')!
    await waitFor('the webhooks to be called', async () => {
      const { stderr } = await kubectlApply(manifest)
      return stderr.includes('Duplicate value')
    })
  }

  function kubectlApply(input: string) {
    return kubernetes.kubectl('apply', '--dry-run=server', '-f', '-', { input })
  }

  compareVerdicts(() => client)

  describe('and every mistake has the same messages and exit codes', () => {
    testMistakes(() => ({
      kubeconfig: kubernetes.kubeconfig,
      kubectl: (args, input) => kubernetes.kubectl(...args, { input }),
    }))
  })

  describe('on the embedded cluster, too', () => {
    let embedded: EmbeddedCluster
    before(async () => {
      embedded = await startEmbedded(0)
    })
    after(() => embedded?.stop())

    testMistakes(() => ({
      kubeconfig: embedded.kubeconfig,
      kubectl: (args, input) => kubernetes.kubectl(...args, { input, kubeconfig: embedded.kubeconfig }),
    }))
  })

  // Last, because it stops the webhooks.
  testMemberScaling(() => ({ kubeconfig: kubernetes.kubeconfig, stopWebhooks: () => server.stop() }))
})
