// SPDX-License-Identifier: Apache-2.0

// Runs the operator and the gang scheduler as processes on the embedded cluster, with a set that starts, is updated and
// has a failing pod. The test acts as the kubelet. Afterwards every metric that the set can cause has a value.
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Pod, PodCliqueSet } from '@grove/api'
import {
  type Client,
  defineResource,
  isKubeError,
  type KubeObject,
  type Resource,
  type Stored,
} from '@grove/kube'
import { schedulerAccountName } from '@grove/scheduler'
import { freePorts, serviceAccount, waitFor } from '@grove/test-kubernetes'
import {
  embeddedHost,
  installOperator,
  type OperatorHost,
  type OperatorProcess,
  operatorNamespace,
  schedulerAccess,
} from '@grove/test-scenarios'

const main = resolve(import.meta.dirname, '../../../packages/scheduler/src/main.ts')
const leaseName = 'grove-scheduler-leader-election'

const sets = grove<PodCliqueSet>('podcliquesets', 'PodCliqueSet')
const pods = core<Pod>('pods', 'Pod')
const nodes = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})
const nodeNames = ['node-1', 'node-2']

export interface Monitored {
  readonly operatorMetrics: string
  readonly schedulerMetrics: string
  /** The log of the operator, line by line. */
  readonly operatorLog: readonly Readonly<Record<string, unknown>>[]
}

export async function monitoredProcesses(): Promise<Monitored> {
  const host = await embeddedHost()
  const children: { kill(): void }[] = []
  try {
    const operator = await startOperator(host)
    children.push(operator)
    const scheduler = await startScheduler(host)
    children.push(scheduler)
    await useSet(host.client)
    return {
      operatorMetrics: await operator.metrics(),
      schedulerMetrics: await scheduler.metrics(),
      operatorLog: logOf(operator),
    }
  } finally {
    for (const child of children) child.kill()
    await host.stop()
  }
}

async function startOperator(host: OperatorHost): Promise<OperatorProcess> {
  const installed = await installOperator(host, {
    configuration: {
      logLevel: 'info',
      scheduler: {
        defaultProfileName: 'grove-scheduler',
        profiles: [{ name: 'default-scheduler' }, { name: 'grove-scheduler' }],
      },
    },
  })
  return installed.start()
}

async function startScheduler(host: OperatorHost) {
  const [metrics = 0, probes = 0] = await freePorts(2)
  await host.apply([...schedulerAccess(leaseName), ...nodeNames.map(node)])
  // Admission taints a new node as not ready.
  for (const name of nodeNames)
    await host.client.patch(nodes, { name }, { merge: { spec: { taints: null } } })
  const config = join(host.directory, 'scheduler.json')
  const bindAddress = '127.0.0.1'
  writeFileSync(
    config,
    JSON.stringify({
      apiVersion: 'scheduler.config.grove.io/v1alpha1',
      kind: 'SchedulerConfiguration',
      metrics: { bindAddress, port: metrics },
      healthProbes: { bindAddress, port: probes },
    }),
  )
  const env = {
    ...process.env,
    KUBECONFIG: host.kubeconfigFor(serviceAccount(operatorNamespace, schedulerAccountName)),
    GROVE_SCHEDULER_NAMESPACE: operatorNamespace,
  }
  const child = spawn(process.execPath, [main, '--config', config], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = outputOf(child)
  await waitFor('the scheduler to lead', () => {
    if (child.exitCode !== null) throw new Error(output())
    return /this process is the leader/.test(output())
  })
  return {
    kill: () => child.kill('SIGKILL'),
    metrics: async () => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text(),
  }
}

/** Creates a set, lets its pods become ready, updates it, lets a pod fail, and sends a set that is rejected. */
async function useSet(client: Client): Promise<void> {
  const ref = { namespace: 'default', name: 'llm' }
  await client.create(sets, setWith('one') as never)
  const isServing = async (image: string, count: number) => {
    await beKubelet(client)
    const { items } = await client.list(pods, { namespace: 'default' })
    const ready = items.filter(pod => isReady(pod) && pod.spec.containers[0]?.image === image)
    const { status } = await client.get(sets, ref)
    return ready.length === count && status?.availableReplicas === 1
  }
  await waitFor('the set to be available', () => isServing('one', 3))
  const stored = await client.get(sets, ref)
  await client.update(sets, { ...stored, spec: setWith('two').spec } as Stored<PodCliqueSet>)
  await waitFor('the update to end', async () => {
    const { status } = await client.get(sets, ref)
    return (await isServing('two', 3)) && status?.updateProgress?.updateEndedAt !== undefined
  })
  const [victim] = (await client.list(pods, { namespace: 'default' })).items
  await setStatus(client, victim!, { phase: 'Failed' })
  await waitFor('the failed pod to be replaced', async () => {
    const found = await client.find(pods, victim!.metadata as never)
    return found?.metadata.uid !== victim!.metadata.uid && (await isServing('two', 3))
  })
  const rejected = setWith('one')
  rejected.spec.template.cliques[0]!.spec.minAvailable = 9
  try {
    await client.create(sets, { ...rejected, metadata: { ...ref, name: 'rejected' } } as never)
    throw new Error('the set was not rejected')
  } catch (error) {
    if (!isKubeError(error)) throw error
  }
}

/** Starts the containers of pods that have a node, and removes pods that are terminating. */
async function beKubelet(client: Client): Promise<void> {
  const { items } = await client.list(pods, { namespace: 'default' })
  for (const pod of items)
    if (pod.metadata.deletionTimestamp)
      await client.delete(pods, pod.metadata as never, { gracePeriodSeconds: 0 }).catch(ignoreGone)
    else if (pod.spec.nodeName && !isReady(pod) && pod.status?.phase !== 'Failed')
      await setStatus(client, pod, {
        phase: 'Running',
        conditions: [
          ...(pod.status?.conditions ?? []).filter(({ type }) => type !== 'Ready'),
          { type: 'Ready', status: 'True', lastTransitionTime: new Date().toISOString() },
        ],
      })
}

async function setStatus(client: Client, { metadata }: Stored<Pod>, status: object): Promise<void> {
  const { name, namespace = '' } = metadata
  await client
    .patch(pods, { name, namespace }, { merge: { status } }, { subresource: 'status' })
    .catch(ignoreGone)
}

function ignoreGone(error: unknown): void {
  if (!isKubeError(error, 'NotFound')) throw error
}

function isReady({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')
}

function setWith(image: string) {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { namespace: 'default', name: 'llm' },
    spec: {
      replicas: 1,
      template: {
        cliques: [
          {
            name: 'worker',
            spec: {
              roleName: 'worker',
              replicas: 3,
              minAvailable: 2,
              podSpec: {
                containers: [
                  {
                    name: 'main',
                    image,
                    resources: {
                      requests: { cpu: '1', 'nvidia.com/gpu': '1' },
                      limits: { 'nvidia.com/gpu': '1' },
                    },
                  },
                ],
              },
            },
          },
        ],
      },
    },
  }
}

function node(name: string): object {
  const amounts = { cpu: '32', memory: '64Gi', pods: '110', 'nvidia.com/gpu': '8' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: { capacity: amounts, allocatable: amounts, conditions: [{ type: 'Ready', status: 'True' }] },
  }
}

function logOf({ output }: OperatorProcess): Readonly<Record<string, unknown>>[] {
  return output
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

function outputOf(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', chunk => (output += chunk))
  return () => output
}

function grove<T extends KubeObject>(resource: string, kind: string): Resource<T> {
  return defineResource<T>({ group: 'grove.io', version: 'v1alpha1', resource, kind, namespaced: true })
}

function core<T extends KubeObject>(resource: string, kind: string): Resource<T> {
  return defineResource<T>({ group: '', version: 'v1', resource, kind, namespaced: true })
}
