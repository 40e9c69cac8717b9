// SPDX-License-Identifier: Apache-2.0

// Scheduler and operator have separate accounts, with the roles of the chart and no other permissions. The audit log of
// the API server shows whether these are sufficient, and which permissions the scheduler does not use.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { label } from '@grove/api'
import type { Client, ClientIdentity, ClientOptions } from '@grove/kube'
import { resources } from '@grove/operator'
import { schedulerAccountName, schedulerClusterRole, schedulerRole } from '@grove/scheduler'
import { freePorts, type Kubernetes, serviceAccount, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { adminClient, identityClient } from './admin-client.ts'
import { AuditLog } from './audit.ts'
import { installCustomResources } from './custom-kinds.ts'
import { gangDeviceTests } from './gang-devices.ts'
import { gangSchedulerTests } from './gang-scheduler.ts'
import { configuration, gangSetTests } from './gang-sets.ts'
import { type WriteCount, writeCounter } from './harness.ts'
import {
  grant,
  operatorAccess,
  operatorIdentity,
  operatorNamespace,
  operatorUser,
} from './operator-process.ts'

const main = resolve(import.meta.dirname, '../../../packages/scheduler/src/main.ts')
const leaseName = 'grove-scheduler-leader-election'
const nodeCount = 14
const schedulerIdentity = serviceAccount(operatorNamespace, schedulerAccountName)
const clusterRole = schedulerClusterRole()
const leaseRole = schedulerRole(operatorNamespace, leaseName)

/** Permissions that the tests of this file do not use, by the reason for which the scheduler has them. */
const heldAnyway: Readonly<Record<string, readonly string[]>> = {
  'lists of API servers without streaming lists are paginated': [
    'list clustertopologybindings.grove.io',
    'list deviceclasses.resource.k8s.io',
    'list namespaces',
    'list nodes',
    'list persistentvolumeclaims',
    'list persistentvolumes',
    'list poddisruptionbudgets.policy',
    'list podgangs.scheduler.grove.io',
    'list pods',
    'list priorityclasses.scheduling.k8s.io',
    'list resourceclaims.resource.k8s.io',
    'list resourceclaimtemplates.resource.k8s.io',
    'list resourceslices.resource.k8s.io',
    'list storageclasses.storage.k8s.io',
  ],
  'a pod is read after a binding whose response was lost': ['get pods'],
  'a claim is read before its allocation is taken back': ['get resourceclaims.resource.k8s.io'],
  'preemption, which is off by default': ['create pods/eviction'],
  'repeated events are counted': ['patch events'],
  'the API server checks it for writes to resourceclaims/status': [
    'patch resourceclaims.resource.k8s.io/binding',
  ],
}

const log = new AuditLog(schedulerIdentity.user, operatorUser)
const clients: Client[] = []
let kubernetes: Kubernetes
let client: Client

const connect = (identity: ClientIdentity, options: ClientOptions = {}) => {
  const made = identityClient(kubernetes, identity, options)
  clients.push(made)
  return made
}

before(async () => {
  kubernetes = await startKubernetes({
    nodes: nodeCount,
    gpus: 8,
    flags: { 'kube-apiserver': log.flags },
  })
  client = adminClient(kubernetes)
  clients.push(client)
  await installCustomResources(client)
  await kubernetes.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: operatorNamespace } },
    ...operatorAccess(configuration),
    ...grant(schedulerAccountName, clusterRole, leaseRole),
  ])
})
after(async () => {
  for (const one of clients) await one.close()
  await kubernetes?.stop()
  log.remove()
})

const cluster = () => ({
  client,
  connect: () => connect(schedulerIdentity),
  newNamespace: () => kubernetes.newNamespace('gangs'),
  connectOperator: (writes: WriteCount[], namespace: string) =>
    connect(operatorIdentity, {
      userAgent: 'grove-operator/test',
      onRequest: writeCounter(writes, namespace),
    }),
  nodeNames: Array.from({ length: nodeCount }, (_, index) => `node-${String(index).padStart(3, '0')}`),
})

gangSchedulerTests('the gang scheduler on real Kubernetes', cluster)
gangDeviceTests('devices of gangs on real Kubernetes', cluster)
gangSetTests('sets under the gang scheduler on real Kubernetes', cluster)

test('the scheduler process takes its lease, records an event for a gang, and releases the lease', async t => {
  const namespace = await kubernetes.newNamespace('gangs')
  const [metrics = 0, probes = 0] = await freePorts(2)
  const bindAddress = '127.0.0.1'
  const config = join(kubernetes.directory, 'scheduler.json')
  const document = {
    apiVersion: 'scheduler.config.grove.io/v1alpha1',
    kind: 'SchedulerConfiguration',
    metrics: { bindAddress, port: metrics },
    healthProbes: { bindAddress, port: probes },
  }
  writeFileSync(config, JSON.stringify(document))
  const env = {
    ...process.env,
    KUBECONFIG: kubernetes.kubeconfigFor(schedulerIdentity),
    GROVE_SCHEDULER_NAMESPACE: operatorNamespace,
  }
  const child = spawn(process.execPath, [main, '--config', config], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  // No node has the selected label.
  const labels = { [label.podGang]: 'waiting', [label.podClique]: 'waiting-a', [label.podIndex]: '0' }
  await kubernetes.apply([
    {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name: 'waiting', namespace, labels: { [label.schedulerName]: schedulerAccountName } },
      spec: {
        podgroups: [
          { name: 'waiting-a', podReferences: [{ namespace, name: 'waiting-a-0' }], minReplicas: 1 },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'waiting-a-0', namespace, labels },
      spec: {
        schedulerName: schedulerAccountName,
        nodeSelector: { 'example.com/missing': 'true' },
        containers: [{ name: 'main', image: 'registry.example/main:1' }],
      },
    },
  ])
  const initialized = {
    type: 'Initialized',
    status: 'True',
    reason: 'Test',
    message: '',
    lastTransitionTime: new Date().toISOString(),
  }
  await client.patch(
    resources.podGangs,
    { name: 'waiting', namespace },
    { merge: { status: { phase: 'Pending', conditions: [initialized] } } },
    { subresource: 'status' },
  )
  await waitFor('an event of the gang', async () => {
    assert.equal(child.exitCode, null, output)
    const { stdout } = await kubernetes.kubectl('get', 'events', '-n', namespace, '-o', 'json')
    const events = JSON.parse(stdout).items as { involvedObject: { kind: string } }[]
    return events.some(({ involvedObject }) => involvedObject.kind === 'PodGang')
  })
  const exited = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  assert.equal(await exited, 0, output)
  const { stdout } = await kubernetes.kubectl(
    'get',
    'lease',
    leaseName,
    '-n',
    operatorNamespace,
    '-o',
    'json',
  )
  assert.equal(JSON.parse(stdout).spec.holderIdentity, '')
})

test('scheduler and operator send no request without permission', () => {
  for (const user of [schedulerIdentity.user, operatorUser]) {
    assert.ok(log.requestsOf(user).length > 0, `the audit log contains requests of ${user}`)
    assert.deepEqual(log.deniedTo(user), [])
  }
})

test('the scheduler has no unused permission', () => {
  const justified = new Set(Object.values(heldAnyway).flat())
  const rules = [...(clusterRole.rules ?? []), ...(leaseRole.rules ?? [])]
  assert.deepEqual(
    log.unusedBy(schedulerIdentity.user, rules).filter(right => !justified.has(right)),
    [],
  )
})
