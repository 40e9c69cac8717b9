// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { deployment, pod } from '../../objects.ts'
import { sessions } from '../session.ts'

const manifest = (...objects: object[]) => objects.map(object => JSON.stringify(object)).join('\n---\n')

export const nodeSessions = sessions({
  'cordon, uncordon, taint, label': async shell => {
    await shell.types('cordon node-a')
    await shell.types('cordon node-a')
    await shell.types('get nodes', { only: withoutVersions })
    await shell.types('get node node-a -o jsonpath={.spec}')
    await shell.types('uncordon node-a')
    await shell.types('taint node node-a dedicated=me:NoSchedule')
    await shell.isRejected('taint node node-a dedicated=you:NoSchedule')
    await shell.types('taint node node-a dedicated=you:NoSchedule --overwrite')
    await shell.types('get node node-a -o jsonpath={.spec.taints}')
    await shell.types('taint node node-a dedicated-')
    await shell.isRejected('taint node node-a dedicated-')
    await shell.isRejected('taint node node-a dedicated=me:Nonsense')
    await shell.types('label node node-a rack=one')
    await shell.types('get nodes -l rack=one -o name')
    await shell.types('label node node-a rack-')
    await shell.isRejected('cordon nowhere')
  },

  'drain: respects disruption budgets, rejects pods of daemon sets and pods without a controller':
    async shell => {
      const site = deployment('site', { replicas: 2 })
      const guard = {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'guard' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'site' } } },
      }
      // Objects of earlier sessions would block the drain.
      await shell.sees('get pods -A -o name', /^$/)
      await shell.types('cordon node-b')
      await shell.types('create -f -', { input: manifest(site, guard) })
      await shell.types('rollout status deployment/site --timeout=120s', { only: () => '' })
      await shell.sees('get pdb guard -o jsonpath={.status.disruptionsAllowed}', /1/)
      await shell.types('get pdb guard')
      await shell.types('describe pdb guard', { only: text => text.replace(/^Events:[\s\S]*/m, '') })
      await shell.types('uncordon node-b')
      await shell.types('create -f -', { input: manifest(pod('alone', { nodeName: 'node-a' })) })
      await shell.sees('get pod alone', /1\/1 +Running/)
      const asked = await shell.isRejected('drain node-a --timeout=5s')
      assert.match(asked, /alone/)
      await shell.types('get node node-a -o jsonpath={.spec.unschedulable}')
      const drained = await shell.silently(
        'drain node-a --force --ignore-daemonsets --delete-emptydir-data --timeout=120s',
      )
      assert.match(drained, /^node\/node-a drained$/m)
      await shell.types('get pods -o name --field-selector=spec.nodeName=node-a')
      await shell.types('get pods -o custom-columns=NODE:.spec.nodeName,PHASE:.status.phase')
      // With one pod left, the budget allows no disruption: the drain waits until its timeout.
      await shell.types('scale deployment site --replicas=1')
      await shell.sees('get pdb guard -o jsonpath={.status.disruptionsAllowed}', /0/)
      const held = await shell.silentlyRejected('drain node-b --timeout=6s')
      assert.match(held, /Cannot evict pod as it would violate the pod's disruption budget/)
      await shell.types('uncordon node-a node-b')
      await shell.types('delete pdb guard')
      await shell.types('drain node-a --dry-run=server')
      await shell.types('uncordon node-a')
    },

  'a node is created and deleted': async shell => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-c', annotations: { 'kwok.x-k8s.io/node': 'fake' } },
    }
    await shell.types('create -f -', { input: manifest(node) })
    await shell.types('wait --for=condition=Ready node/node-c --timeout=120s')
    await shell.isRejected('create -f -', { input: manifest(node) })
    await shell.types('delete node node-c')
    await shell.isRejected('get node node-c')
  },
})

function withoutVersions(table: string): string {
  return table.replace(/ \S+$/gm, '')
}
