// SPDX-License-Identifier: Apache-2.0

// A cluster without controllers, embedded or real, that an operator process connects to over HTTPS. Tests of the
// process need no controllers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCluster, renderKubeconfig, serveHttps } from '@grove/cluster'
import {
  type Client,
  type ClientIdentity,
  createAuthority,
  createClient,
  type KubeObject,
  loadKubeconfig,
} from '@grove/kube'
import { startKubernetes } from '@grove/test-kubernetes'
import { adminClient } from './admin-client.ts'

export interface OperatorHost {
  /** Removed when the host stops. */
  readonly directory: string
  /** A client with the rights of an administrator. */
  readonly client: Client
  /** Applies the objects with server-side apply. */
  apply(objects: readonly object[]): Promise<void>
  /** Writes a kubeconfig with a client certificate for the identity, and returns its path. */
  kubeconfigFor(identity: ClientIdentity): string
  stop(): Promise<void>
}

export async function realHost(): Promise<OperatorHost> {
  const kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
  const client = adminClient(kubernetes)
  return {
    directory: kubernetes.directory,
    client,
    apply: objects => kubernetes.apply(objects),
    kubeconfigFor: identity => kubernetes.kubeconfigFor(identity),
    stop: async () => {
      await client.close()
      await kubernetes.stop()
    },
  }
}

export async function embeddedHost(): Promise<OperatorHost> {
  const directory = mkdtempSync(join(tmpdir(), 'grove-host-'))
  const cluster = createCluster({ authorization: 'rbac' })
  const authority = createAuthority('grove-cluster-ca')
  const front = await serveHttps({
    handle: cluster.handle,
    authenticate: cluster.authenticate,
    certificates: {
      authority: authority.pair.cert,
      server: authority.server('kube-apiserver', ['127.0.0.1', 'localhost']),
      admin: authority.client({ user: 'kubernetes-admin', groups: ['system:masters'] }),
    },
  })
  let identities = 0
  const kubeconfigFor = (identity: ClientIdentity) => {
    const file = join(directory, `identity-${identities++}.kubeconfig`)
    const text = renderKubeconfig(front.url, authority.pair.cert, authority.client(identity))
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  const client = createClient(
    loadKubeconfig({ path: kubeconfigFor({ user: 'kubernetes-admin', groups: ['system:masters'] }) }),
  )
  return {
    directory,
    client,
    apply: async objects => {
      for (const object of objects) await applyObject(client, object as KubeObject)
    },
    kubeconfigFor,
    stop: async () => {
      await client.close()
      await front.close()
      cluster.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Applies an object whose resource name is its kind with an "s". This holds for all kinds that an operator needs. */
export async function applyObject(client: Client, object: KubeObject): Promise<void> {
  const { apiVersion = '', kind = '', metadata = {} } = object
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const inside = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
  await client.raw({
    verb: 'apply',
    method: 'PATCH',
    path: `${base}${inside}/${kind.toLowerCase()}s/${metadata.name}?fieldManager=kubectl&force=true`,
    contentType: 'application/apply-patch+yaml',
    body: object,
    idempotent: true,
  })
}
