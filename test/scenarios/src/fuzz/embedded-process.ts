// SPDX-License-Identifier: Apache-2.0

// The embedded cluster in its own process. The memory and the event loop of the operator process are measured without
// the API server.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { renderKubeconfig } from '@grove/cluster'
import {
  type Client,
  type ClientIdentity,
  type ClusterAuthority,
  createAuthority,
  createClient,
  type KubeObject,
} from '@grove/kube'
import { namespaces } from '../embedded-cluster.ts'
import { applyObject } from '../operator-host.ts'
import type { Installable } from '../operator-process.ts'
import type { ServerOrder } from './embedded-server.ts'

const hosts = ['127.0.0.1', 'localhost']

class EmbeddedProcess implements Installable, AsyncDisposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'grove-fuzz-'))
  readonly client: Client
  readonly pid: number
  readonly #child: ChildProcess
  readonly #authority: ClusterAuthority
  readonly #url: string
  #identities = 0

  constructor(child: ChildProcess, authority: ClusterAuthority, url: string) {
    this.#child = child
    this.#authority = authority
    this.#url = url
    this.pid = child.pid ?? 0
    const admin = authority.client({ user: 'kubernetes-admin', groups: ['system:masters'] })
    this.client = createClient({
      server: url,
      namespace: 'default',
      tls: () => ({ ca: authority.pair.cert, certificate: admin.cert, key: admin.key }),
    })
  }

  async apply(objects: readonly object[]): Promise<void> {
    for (const object of objects) await applyObject(this.client, object as KubeObject)
  }

  kubeconfigFor(identity: ClientIdentity): string {
    const file = join(this.directory, `identity-${this.#identities++}.kubeconfig`)
    const text = renderKubeconfig(this.#url, this.#authority.pair.cert, this.#authority.client(identity))
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }

  async newNamespace(name: string): Promise<string> {
    await this.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    return name
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close()
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
    rmSync(this.directory, { recursive: true, force: true })
  }
}

export async function startEmbeddedProcess({ nodes }: { nodes: number }): Promise<EmbeddedProcess> {
  const authority = createAuthority('grove-cluster-ca')
  const order: ServerOrder = {
    nodes,
    certificates: {
      authority: authority.pair.cert,
      server: authority.server('kube-apiserver', hosts),
      admin: authority.client({ user: 'kubernetes-admin', groups: ['system:masters'] }),
    },
  }
  const child = fork(join(import.meta.dirname, 'embedded-server.ts'), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--max-old-space-size=4096'],
  })
  child.send(order)
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the embedded cluster ended with ${code} before it served`)
    }),
  ])) as [{ url: string }]
  return new EmbeddedProcess(child, authority, message.url)
}
