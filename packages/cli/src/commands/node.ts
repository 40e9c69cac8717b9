// SPDX-License-Identifier: Apache-2.0

// `grove node` stops, restarts and adds nodes of a running simulated cluster.
import { QuantityError, readQuantity } from '@grove/apimachinery/quantity'
import { Fleet, type Node, type NodePlan, stoppedAnnotation } from '@grove/cluster/nodes'
import { type Client, defineResource } from '@grove/kube/client'
import { systemClock } from '@grove/kube/clock'
import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { printLines } from '../terminal/print.ts'
import { wholeNumber } from './options.ts'

const nodes = defineResource<Node>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})

export interface KillOptions extends ClusterOptions {
  readonly now?: boolean
}

export async function killNodes(names: readonly string[], options: KillOptions): Promise<void> {
  await onSimulated(names, options, async (fleet, name) => {
    if (options.now) {
      const pods = await fleet.killNow(name)
      return `node/${name} stopped and NotReady; ${pods} ${pods === 1 ? 'pod' : 'pods'} deleted`
    }
    await fleet.kill(name)
    return `node/${name} stopped. It becomes NotReady within a minute, and its pods are evicted five minutes later (--now: at once)`
  })
}

export async function restoreNodes(names: readonly string[], options: ClusterOptions): Promise<void> {
  await onSimulated(names, options, async (fleet, name) => {
    await fleet.revive(name)
    return `node/${name} started again`
  })
}

export interface AddOptions extends ClusterOptions {
  readonly like?: string
  readonly gpus?: string
  readonly cpu?: string
  readonly memory?: string
  readonly labels?: string[]
}

/** Adds nodes with the properties of an existing node, or with given ones. */
export async function addNodes(names: readonly string[], options: AddOptions): Promise<void> {
  await withCluster(options, async ({ client }) => {
    const { items } = await client.list(nodes)
    const model =
      options.like === undefined ? undefined : items.find(({ metadata }) => metadata.name === options.like)
    if (options.like !== undefined && !model) throw new CommandError(`node ${options.like} not found`, 1)
    if (items.length > 0) requireSimulated(model ?? items[0]!)
    const taken = items.find(({ metadata }) => names.includes(metadata.name))
    if (taken) throw new CommandError(`node ${taken.metadata.name} exists already`, 1)
    await fleetOf(client).add(names.map(name => planFor(name, model, options)))
    printLines(names.map(name => `node/${name} added`))
  })
}

function planFor(name: string, model: Node | undefined, options: AddOptions): NodePlan {
  const { cpu, memory, pods, ...resources } = model?.status?.capacity ?? {}
  const { 'kubernetes.io/hostname': _, ...labels } = model?.metadata?.labels ?? {}
  return {
    name,
    ...(cpu && { cpu }),
    ...(memory && { memory }),
    ...(pods && { pods: Number(pods) }),
    resources,
    taints: (model?.spec?.taints ?? []).filter(
      ({ key }) => !key?.startsWith('node.kubernetes.io/'),
    ) as NodePlan['taints'],
    ...(options.cpu && { cpu: quantity('--cpu', options.cpu) }),
    ...(options.memory && { memory: quantity('--memory', options.memory) }),
    ...(options.gpus !== undefined && { gpus: wholeNumber('--gpus', options.gpus) }),
    labels: { ...labels, ...Object.fromEntries((options.labels ?? []).map(labelOf)) },
  }
}

function quantity(option: string, text: string): string {
  const read = readQuantity(text)
  if (read instanceof QuantityError || read.unscaled < 0n)
    throw new CommandError(`${option} must be a quantity such as 64 or 512Gi, not ${JSON.stringify(text)}`)
  return text
}

function labelOf(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at <= 0) throw new CommandError(`--labels must be KEY=VALUE, not ${JSON.stringify(text)}`)
  return [text.slice(0, at), text.slice(at + 1)]
}

async function onSimulated(
  names: readonly string[],
  options: ClusterOptions,
  work: (fleet: Fleet, name: string) => Promise<string>,
): Promise<void> {
  await withCluster(options, async ({ client }) => {
    const fleet = fleetOf(client)
    const found = await Promise.all(names.map(name => client.get(nodes, { name })))
    found.forEach(requireSimulated)
    for (const name of names) printLines([await work(fleet, name)])
  })
}

function fleetOf(client: Client): Fleet {
  return new Fleet(client, systemClock)
}

/** Only a simulated kubelet obeys the annotation. On a real node it would be wrong. */
function requireSimulated({ metadata, status }: Node): void {
  if (status?.nodeInfo?.containerRuntimeVersion?.startsWith('simulated:')) return
  throw new CommandError(
    `node ${metadata?.name} is not a node of \`grove up\`: only simulated nodes can be added, killed (${stoppedAnnotation}) and restored`,
    1,
  )
}
