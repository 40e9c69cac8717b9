// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfiguration } from '@grove/api'
import type { Client } from '@grove/kube'
import { checkNativeGangs } from './native-gangs-check.ts'

interface Version {
  readonly version: string
  readonly resources: readonly string[]
}

/** A cluster that serves these versions of scheduling.k8s.io. */
function clusterWith(...versions: readonly Version[]): Client {
  const groups = versions.map(({ version, resources }) => ({
    version,
    resources: resources.map(resource => ({ resource, scope: 'Namespaced', verbs: [] })),
  }))
  const found = {
    kind: 'APIGroupDiscoveryList',
    items: [{ metadata: { name: 'scheduling.k8s.io' }, versions: groups }],
  }
  const none = { kind: 'APIGroupDiscoveryList', items: [] }
  return { raw: async ({ path }: { path: string }) => (path === '/apis' ? found : none) } as unknown as Client
}

function configured(...names: readonly string[]) {
  const result = loadConfiguration({
    apiVersion: 'operator.config.grove.io/v1alpha1',
    kind: 'OperatorConfiguration',
    scheduler: { profiles: names.map(name => ({ name })) },
  })
  assert.ok(result.outcome === 'loaded')
  return result.configuration
}

const beta: Version = { version: 'v1beta1', resources: ['workloads', 'podgroups'] }
const alpha: Version = { version: 'v1alpha3', resources: ['compositepodgroups'] }

test('the operator starts if the cluster serves every kind of native gangs in the version that it writes', async () => {
  await checkNativeGangs(clusterWith(beta, alpha), configured('kubernetes'))
})

test('a cluster that serves a kind only in another version ends the process with the exit code of backends', async () => {
  const older = { version: 'v1alpha2', resources: ['workloads', 'podgroups'] }
  await assert.rejects(checkNativeGangs(clusterWith(older, alpha), configured('kubernetes')), {
    exitCode: 5,
    message:
      /does not serve Workload of scheduling\.k8s\.io\/v1beta1, PodGroup of scheduling\.k8s\.io\/v1beta1;/,
  })
})

test('the kinds of native gangs are checked only if their profile is enabled', async () => {
  await checkNativeGangs(clusterWith(), configured('default-scheduler'))
})
