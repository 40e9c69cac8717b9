// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { type Client, createClient, defineResource, requestToken } from '../client/index.ts'
import { type Clock, systemClock } from '../clock/index.ts'
import { ChaosProxy } from '../testing/chaos-proxy.ts'
import { newPki } from '../testing/localhost-pki.ts'
import { inClusterConfig } from './in-cluster.ts'
import { loadKubeconfig } from './kubeconfig.ts'

const core = { group: '', version: 'v1', namespaced: true }
const configMaps = defineResource({ ...core, resource: 'configmaps', kind: 'ConfigMap' })
const secrets = defineResource({ ...core, resource: 'secrets', kind: 'Secret' })
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true }
const roleBindings = defineResource({ ...rbac, resource: 'rolebindings', kind: 'RoleBinding' })

/** Makes files due for reading a hundred times as often as in a pod. */
const fastClock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() * 100 }

describe('in-cluster config on a real API server, while token and CA are replaced', () => {
  const directory = mkdtempSync(join(tmpdir(), 'service-account-'))
  const give = (name: string, text: string) => writeFileSync(join(directory, name), text)
  let cluster: Kubernetes
  let admin: Client
  let proxy: ChaosProxy
  let namespace: string

  before(async () => {
    cluster = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
    admin = createClient(loadKubeconfig({ path: cluster.kubeconfig }))
    namespace = await cluster.newNamespace()
    await admin.create(roleBindings, {
      metadata: { name: 'all', namespace },
      roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }],
    } as object)
    // The proxy is anonymous towards the API server, so only the token identifies the client.
    proxy = await ChaosProxy.start({
      server: cluster.server,
      ca: cluster.ca,
      watchFault: () => ({ kind: 'none' }),
    })
  })
  after(async () => {
    await admin?.close()
    await proxy?.stop()
    await cluster?.stop()
    rmSync(directory, { recursive: true })
  })

  /** A token that is valid only as long as a Secret exists. */
  async function revocableToken(name: string): Promise<{ token: string; revoke: () => Promise<unknown> }> {
    const secret = await admin.create(secrets, { metadata: { name, namespace } })
    const { token } = await requestToken(
      admin,
      { namespace, name: 'default' },
      { boundObject: { apiVersion: 'v1', kind: 'Secret', name, uid: secret.metadata.uid } },
    )
    return { token, revoke: () => admin.delete(secrets, secret.metadata) }
  }

  it('never fails a request', async () => {
    const first = await revocableToken('first')
    give('token', first.token)
    give('ca.crt', proxy.ca)
    const environment = { KUBERNETES_SERVICE_HOST: 'localhost', KUBERNETES_SERVICE_PORT: String(proxy.port) }
    const client = createClient(inClusterConfig({ directory, clock: fastClock, environment }))
    let done = false
    let requests = 0
    const work = async (worker: number) => {
      while (!done) {
        await client.create(configMaps, { metadata: { generateName: `w${worker}-`, namespace } })
        await client.list(configMaps, { namespace, limit: 5, labelSelector: 'none=of-them' })
        requests += 2
      }
    }
    const working = Promise.all([1, 2, 3, 4].map(work))
    const some = async () => {
      const wanted = requests + 40
      while (requests < wanted) await Promise.race([systemClock.sleep(20), working])
    }
    await some()

    const second = await revocableToken('second')
    give('token', second.token)
    await first.revoke()
    await some()

    const old = proxy.ca
    const renewed = newPki()
    give('ca.crt', old + renewed.authority.cert)
    await systemClock.sleep(200)
    proxy.useCertificate(renewed)
    proxy.dropConnections()
    await some()
    give('ca.crt', renewed.authority.cert)
    proxy.dropConnections()
    await some()

    done = true
    await working
    await client.close()
    assert.ok(requests >= 160)
  })
})
