// SPDX-License-Identifier: Apache-2.0

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { plainNodes } from '@grove/cluster'
import { defineResource, type KubeObject } from '@grove/kube'
import { type LocalCluster, startLocalCluster } from '../commands/up/local-cluster.ts'
import { tellVerbs } from './verbs.fixture.ts'

const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
})

describe('the verbs of kubectl on the embedded cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'grove-verbs-'))
  const kubeconfig = join(folder, 'kubeconfig')
  let cluster: LocalCluster
  let made = 0

  before(async () => {
    cluster = await startLocalCluster({ configuration: defaultConfiguration(), nodes: plainNodes(2) })
    writeFileSync(kubeconfig, cluster.front.kubeconfig)
  })
  after(async () => {
    await cluster?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  tellVerbs(
    () => kubeconfig,
    async () => {
      const name = `verbs-${made++}`
      await cluster.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      return name
    },
  )
})
