// SPDX-License-Identifier: Apache-2.0

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultConfiguration } from '@grove/api'
import { plainNodes } from '@grove/cluster'
import { type Client, defineResource, type KubeObject } from '@grove/kube'
import { startLocalCluster } from '../commands/up/local-cluster.ts'

export interface EmbeddedCluster {
  /** Path of its kubeconfig. */
  readonly kubeconfig: string
  readonly client: Client
  newNamespace(): Promise<string>
  stop(): Promise<void>
}

const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

/** Starts a cluster with the operator in this process, as `grove up` does. */
export async function startEmbedded(nodes = 2): Promise<EmbeddedCluster> {
  const cluster = await startLocalCluster({
    configuration: defaultConfiguration(),
    nodes: plainNodes(nodes),
  })
  const folder = mkdtempSync(join(tmpdir(), 'grove-embedded-'))
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(kubeconfig, cluster.front.kubeconfig)
  let made = 0
  return {
    kubeconfig,
    client: cluster.client,
    async newNamespace() {
      const name = `test-${made++}`
      await cluster.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      return name
    },
    async stop() {
      await cluster.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
