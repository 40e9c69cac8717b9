// SPDX-License-Identifier: Apache-2.0

// Other clients create, change and delete the certificate Secret and the webhook configurations of the operator
// process. The operator reacts within seconds, and is not ready while API servers cannot call its webhooks.
import assert from 'node:assert/strict'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import {
  type Client,
  createAuthority,
  defineResource,
  isKubeError,
  type KeyPair,
  type KubeObject,
  type WebhookConfiguration,
} from '@grove/kube'
import { resources } from '@grove/operator'
import { waitFor } from '@grove/test-kubernetes'
import type { OperatorHost } from './operator-host.ts'
import {
  type InstalledOperator,
  installOperator,
  type OperatorProcess,
  type OperatorProcessOptions,
  operatorNamespace,
} from './operator-process.ts'

const defaulting = 'podcliqueset-defaulting-webhook'
const validating = 'podcliqueset-validating-webhook'
const serverName = `grove-operator.${operatorNamespace}.svc`
const secretName = 'grove-webhook-server-cert'

const configurationsOf = (kind: 'Mutating' | 'Validating') =>
  defineResource<WebhookConfiguration>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    resource: `${kind.toLowerCase()}webhookconfigurations`,
    kind: `${kind}WebhookConfiguration`,
    namespaced: false,
  })
const mutatingConfigurations = configurationsOf('Mutating')
const validatingConfigurations = configurationsOf('Validating')
const secrets = defineResource<KubeObject & { readonly data?: Readonly<Record<string, string>> }>({
  group: '',
  version: 'v1',
  resource: 'secrets',
  kind: 'Secret',
  namespaced: true,
})

export function webhookTrustTests(cluster: string, startHost: () => Promise<OperatorHost>): void {
  describe(`the operator process and its webhook configurations, on ${cluster}`, () => {
    let host: OperatorHost
    let client: Client
    let installed: InstalledOperator
    const running: OperatorProcess[] = []

    before(async () => {
      host = await startHost()
      client = host.client
    })
    after(() => host?.stop())
    /** Every test starts without webhook configurations, Secret and operators. */
    afterEach(async () => {
      for (const operator of running.splice(0)) operator.kill()
      for (const { kind, metadata } of installed?.webhookConfigurations ?? [])
        await gone(client.delete(resourceOf(kind), { name: metadata?.name ?? '' }))
      await gone(client.delete(secrets, { namespace: operatorNamespace, name: secretName }))
    })

    async function install(options: OperatorProcessOptions = {}): Promise<void> {
      installed = await installOperator(host, { ...options, withoutWebhookConfigurations: true })
    }
    const applyConfigurations = () => host.apply(installed.webhookConfigurations)
    async function start(options?: { replica: boolean }): Promise<OperatorProcess> {
      const operator = await installed.spawn(options)
      running.push(operator)
      return operator
    }

    test('an operator without webhook configurations is not ready, and becomes ready when they are applied', async () => {
      await install()
      const operator = await start()
      await untilProblem(
        operator,
        /MutatingWebhookConfiguration podcliqueset-defaulting-webhook does not exist/,
      )
      assert.equal(await readyStatus(operator), 500)
      await applyConfigurations()
      await operator.untilReady()
      await untilSetsAreValidated(client)
    })

    test('writes the caBundle again after a configuration is deleted and applied again, or its caBundle is removed', async () => {
      await install()
      await applyConfigurations()
      const operator = await start()
      await operator.untilReady()
      await client.delete(validatingConfigurations, { name: validating })
      await untilProblem(
        operator,
        /ValidatingWebhookConfiguration podcliqueset-validating-webhook does not exist/,
      )
      await applyConfigurations()
      await operator.untilReady()
      await untilSetsAreValidated(client)

      const stored = await client.get(mutatingConfigurations, { name: defaulting })
      await client.update(mutatingConfigurations, withBundle(stored, undefined))
      await waitFor('the caBundle to be written again', async () =>
        isDeepEqual(await bundlesOf(client, mutatingConfigurations, defaulting), bundles(stored)),
      )
      await operator.untilReady()
      await untilSetsAreValidated(client)
    })

    test('API servers trust two replicas after the Secret is deleted and one replica restarts', async () => {
      await install()
      await applyConfigurations()
      const [first, second] = [await start(), await start({ replica: true })]
      await first.untilReady()
      await second.untilReady()
      const certificateBefore = await storedCertificate(client)
      // The second replica is paused: the restarted one finds neither a Secret nor another running process.
      second.child.kill('SIGSTOP')
      first.kill()
      await client.delete(secrets, { namespace: operatorNamespace, name: secretName })
      const restarted = await start()
      await restarted.untilReady()
      assert.notEqual(await storedCertificate(client), certificateBefore)
      const published = await bundlesOf(client, validatingConfigurations, validating)
      second.child.kill('SIGCONT')
      // The next handshake uses the old certificate.
      await trusts(second, published)
      await waitFor('both to be ready', async () =>
        [await readyStatus(restarted), await readyStatus(second)].every(status => status === 200),
      )
      for (const operator of [restarted, second])
        await trusts(operator, await bundlesOf(client, validatingConfigurations, validating))
      await untilSetsAreValidated(client)
    })

    test('API servers trust running replicas at every moment while a deleted Secret is replaced', async () => {
      await install()
      await applyConfigurations()
      const [first, second] = [await start(), await start({ replica: true })]
      await first.untilReady()
      await second.untilReady()
      const certificateBefore = await storedCertificate(client)
      await client.delete(secrets, { namespace: operatorNamespace, name: secretName })
      await waitFor('a new certificate in the Secret', async () => {
        for (const operator of [first, second])
          await trusts(operator, await bundlesOf(client, validatingConfigurations, validating))
        const stored = await storedCertificate(client)
        return stored !== undefined && stored !== '' && stored !== certificateBefore
      })
      await untilSetsAreValidated(client)
      for (const operator of [first, second]) {
        await operator.untilReady()
        await trusts(operator, await bundlesOf(client, validatingConfigurations, validating))
      }
    })

    test('issues certificates for the Service that its configuration names', async () => {
      await install({ configuration: { server: { webhooks: { serviceName: 'grove-hooks' } } } })
      await applyConfigurations()
      const operator = await start()
      await operator.untilReady()
    })

    test('with webhooks disabled, it is ready without configurations and creates no Secret', async () => {
      await install({ configuration: { server: { webhooks: { enabled: false } } } })
      const operator = await start()
      await operator.untilReady()
      assert.match(operator.output, /server\.webhooks\.enabled is false: PodCliqueSets are neither defaulted/)
      assert.doesNotMatch(operator.output, /forbidden/i)
      assert.equal(await storedCertificate(client), undefined)
    })

    test('with manual certificates, it is ready if and only if every caBundle covers the certificate files', async () => {
      const serverCertDir = join(host.directory, 'webhook-certs')
      mkdirSync(serverCertDir, { recursive: true })
      const [ours, foreign] = [createAuthority('ours'), createAuthority('foreign')]
      writePair(serverCertDir, ours.server(serverName, [serverName]))
      await install({
        configuration: { server: { webhooks: { certProvisionMode: 'manual', serverCertDir } } },
      })
      const operator = await start()
      await untilProblem(operator, /podcliqueset-defaulting-webhook does not exist/)
      const setBundles = async (caBundle: string | undefined) => {
        for (const { kind, metadata } of installed.webhookConfigurations) {
          const resource = resourceOf(kind)
          await waitFor('an update without a conflict', async () => {
            const stored = await client.get(resource, { name: metadata?.name ?? '' })
            await client.update(resource, withBundle(stored, caBundle))
            return true
          })
        }
      }
      await applyConfigurations()
      await untilProblem(operator, /has no caBundle for pcs\.defaulting\.webhooks\.grove\.io/)
      await setBundles(foreign.pair.cert)
      await untilProblem(operator, /does not cover the served certificate/)
      await setBundles(ours.pair.cert)
      await operator.untilReady()
      await untilSetsAreValidated(client)
      await setBundles(undefined)
      await untilProblem(operator, /has no caBundle/)
      await setBundles(ours.pair.cert)
      await operator.untilReady()
      writePair(serverCertDir, foreign.server(serverName, [serverName]))
      await untilProblem(operator, /does not cover the served certificate/)
      await setBundles(ours.pair.cert + foreign.pair.cert)
      await operator.untilReady()
      await untilSetsAreValidated(client)
      const stored = await client.find(secrets, { namespace: operatorNamespace, name: secretName })
      assert.equal(stored, undefined, 'no Secret is created')
    })
  })
}

function resourceOf(kind: string | undefined) {
  return kind === 'MutatingWebhookConfiguration' ? mutatingConfigurations : validatingConfigurations
}

async function gone(deletion: Promise<unknown>): Promise<void> {
  await deletion.catch(error => {
    if (!isKubeError(error, 'NotFound')) throw error
  })
}

function untilProblem(operator: OperatorProcess, expected: RegExp): Promise<unknown> {
  return waitFor(`not ready because ${expected}`, async () =>
    expected.test((await operator.certificateProblem()) ?? ''),
  )
}

async function readyStatus(operator: OperatorProcess): Promise<number> {
  return (await fetch(`http://127.0.0.1:${operator.ports.probes}/readyz`)).status
}

function withBundle<T extends WebhookConfiguration>(configuration: T, pem: string | undefined): T {
  const caBundle = pem && Buffer.from(pem).toString('base64')
  return {
    ...configuration,
    webhooks: configuration.webhooks?.map(({ clientConfig, ...rest }) => {
      const { caBundle: _, ...others } = clientConfig
      return { ...rest, clientConfig: { ...others, ...(caBundle && { caBundle }) } }
    }),
  }
}

function bundles({ webhooks = [] }: WebhookConfiguration): string[] {
  return webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString())
}

async function bundlesOf(
  client: Client,
  resource: ReturnType<typeof configurationsOf>,
  name: string,
): Promise<string[]> {
  return bundles(await client.get(resource, { name }))
}

async function storedCertificate(client: Client): Promise<string | undefined> {
  const secret = await client.find(secrets, { namespace: operatorNamespace, name: secretName })
  return secret?.data?.['tls.crt']
}

/** Makes a TLS handshake like an API server with these CA bundles. Rejects if the certificate is not trusted. */
async function trusts({ ports }: OperatorProcess, pems: readonly string[]): Promise<void> {
  for (const ca of pems)
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: ports.webhooks, ca, servername: serverName })
      socket.once('error', reject)
      socket.once('secureConnect', () => {
        socket.end()
        resolve()
      })
    })
}

/**
 * Checks that the API server calls the webhooks: one set is defaulted, another is rejected with the operator's message.
 */
async function untilSetsAreValidated(client: Client): Promise<void> {
  const create = (minAvailable: number) =>
    client.create(
      resources.podCliqueSets,
      {
        apiVersion: 'grove.io/v1alpha1',
        kind: 'PodCliqueSet',
        metadata: { namespace: 'default', name: 'trust' },
        spec: {
          replicas: 1,
          template: {
            cliques: [
              {
                name: 'web',
                spec: {
                  roleName: 'web',
                  replicas: 2,
                  minAvailable,
                  podSpec: { containers: [{ name: 'main', image: 'registry.example/web:1' }] },
                },
              },
            ],
          },
        },
      } as never,
      { dryRun: true, attempts: 1 },
    )
  const created = await waitFor('a set to be defaulted and admitted', () => create(1))
  assert.equal(created.spec.template.terminationDelay, '4h0m0s')
  await assert.rejects(create(3), /minAvailable must not be greater than replicas/)
}

/** Renames both files into place, as the kubelet updates a mounted Secret. */
function writePair(folder: string, { cert, key }: KeyPair): void {
  for (const [file, text] of [
    ['tls.key', key],
    ['tls.crt', cert],
  ] as const) {
    writeFileSync(join(folder, `.${file}`), text)
    renameSync(join(folder, `.${file}`), join(folder, file))
  }
}

function isDeepEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index])
}
