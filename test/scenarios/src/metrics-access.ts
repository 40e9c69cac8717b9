// SPDX-License-Identifier: Apache-2.0

// Metrics of the operator process over HTTPS: available to users that the API server authenticates and authorizes.
import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, before, describe, test } from 'node:test'
import { type Client, defineResource, type KubeObject } from '@grove/kube'
import { waitFor } from '@grove/test-kubernetes'
import type { OperatorHost } from './operator-host.ts'
import { installOperator, type OperatorProcess, operatorNamespace } from './operator-process.ts'

const secrets = defineResource<KubeObject & { readonly data?: Readonly<Record<string, string>> }>({
  group: '',
  version: 'v1',
  resource: 'secrets',
  kind: 'Secret',
  namespaced: true,
})
const rbac = 'rbac.authorization.k8s.io'

export function metricsAccessTests(cluster: string, startHost: () => Promise<OperatorHost>): void {
  describe(`secured metrics of the operator process, on ${cluster}`, () => {
    let host: OperatorHost
    let operator: OperatorProcess

    before(async () => {
      host = await startHost()
      const installed = await installOperator(host, {
        configuration: { server: { metrics: { secure: true } } },
      })
      operator = await installed.start()
      await host.apply([
        account('scraper'),
        account('stranger'),
        {
          apiVersion: `${rbac}/v1`,
          kind: 'ClusterRole',
          metadata: { name: 'metrics-reader' },
          rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
        },
        {
          apiVersion: `${rbac}/v1`,
          kind: 'ClusterRoleBinding',
          metadata: { name: 'metrics-reader' },
          roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'metrics-reader' },
          subjects: [{ kind: 'ServiceAccount', name: 'scraper', namespace: 'default' }],
        },
      ])
    })
    after(async () => {
      operator?.kill()
      await host?.stop()
    })

    test('are not served over plain HTTP', async () => {
      await assert.rejects(fetch(`http://127.0.0.1:${operator.ports.metrics}/metrics`))
    })

    test('returns 401 without a token and with an unknown token', async () => {
      assert.deepEqual(await scrape(), { status: 401, body: 'Unauthorized\n' })
      assert.deepEqual(await scrape('made-up'), { status: 401, body: 'Unauthorized\n' })
    })

    test('returns 403 to a user without the right to get /metrics', async () => {
      assert.deepEqual(await scrape(await tokenOf('stranger')), {
        status: 403,
        body: 'Authorization denied for user system:serviceaccount:default:stranger\n',
      })
    })

    test('returns 200 to a user with the right to get /metrics', async () => {
      const token = await tokenOf('scraper')
      // The authorizer of a real API server sees a new binding with a delay, and the operator caches a rejection for 30
      // s.
      const response = await waitFor('the metrics', async () => {
        const { status, body } = await scrape(token)
        return status === 200 && body
      })
      assert.match(response, /process_cpu_seconds_total/)
      assert.doesNotMatch(operator.output, /forbidden|plain HTTP/i)
    })

    const tokenOf = (name: string) => serviceAccountToken(host.client, { namespace: 'default', name })
    const scrape = (token?: string) => scrapeMetrics(host.client, operator, token)
  })
}

/** Returns a token like the one that a pod mounts. */
export async function serviceAccountToken(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const { status } = (await client.raw({
    verb: 'create',
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })) as { status: { token: string } }
  return status.token
}

/** Reads the metrics over HTTPS and verifies the certificate with the CA in the operator's Secret. */
export async function scrapeMetrics(
  client: Client,
  { ports }: OperatorProcess,
  token?: string,
): Promise<{ status: number | undefined; body: string }> {
  const ref = { namespace: operatorNamespace, name: 'grove-webhook-server-cert' }
  const { data = {} } = await client.get(secrets, ref)
  const ca = Buffer.from(data['ca.crt'] ?? '', 'base64').toString()
  return new Promise((resolve, reject) => {
    request(
      {
        host: '127.0.0.1',
        port: ports.metrics,
        path: '/metrics',
        ca,
        servername: `grove-operator.${operatorNamespace}.svc`,
        headers: token ? { authorization: `Bearer ${token}` } : {},
      },
      async response => {
        let body = ''
        for await (const chunk of response) body += chunk
        resolve({ status: response.statusCode, body })
      },
    )
      .on('error', reject)
      .end()
  })
}

function account(name: string): object {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'default' } }
}
