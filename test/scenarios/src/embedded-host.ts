// SPDX-License-Identifier: Apache-2.0

// Serves an embedded cluster over HTTPS, for an operator in a process of its own.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveHttps } from '@grove/cluster'
import type { KubeObject } from '@grove/kube'
import type { EmbeddedCluster } from './embedded-cluster.ts'
import { applyObject } from './operator-host.ts'
import type { Installable } from './operator-process.ts'

export interface EmbeddedHost extends Installable {
  stop(): Promise<void>
}

/** The kubeconfig grants every right. */
export async function serveEmbedded({ cluster, client }: EmbeddedCluster): Promise<EmbeddedHost> {
  const directory = mkdtempSync(join(tmpdir(), 'grove-embedded-'))
  const front = await serveHttps({ handle: cluster.handle, authenticate: cluster.authenticate })
  const kubeconfig = join(directory, 'kubeconfig')
  writeFileSync(kubeconfig, front.kubeconfig, { mode: 0o600 })
  return {
    directory,
    kubeconfigFor: () => kubeconfig,
    apply: async objects => {
      for (const object of objects) await applyObject(client, object as KubeObject)
    },
    stop: async () => {
      await front.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
