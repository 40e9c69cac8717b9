// SPDX-License-Identifier: Apache-2.0

import { createHash } from 'node:crypto'
import { isNotFound, type Stored } from '@grove/kube'
import { nodeTest } from '../../scheduling/filters/node-affinity.ts'
import { NodeState } from '../../scheduling/node-state.ts'
import { podInfo } from '../../scheduling/pod-info.ts'
import { untoleratedTaint } from '../../scheduling/taints.ts'
import type { Toleration } from '../../schema/types.generated.ts'
import { changesOf, keyOf, ownChangesOf, refOf } from '../changes.ts'
import { ControlLoop, type Requeue } from '../control-loop.ts'
import { absolute } from '../deployments/rollout.ts'
import { type DaemonSet, daemonSets, type Node, nodes, type Pod, pods } from '../kinds.ts'
import { deletePod, ownerChangesOf, podFrom } from '../owned-pods.ts'
import { hasEnded, isActive, isReady } from '../pod-state.ts'
import type { Runtime } from '../runtime.ts'
import { sameStatus } from '../same-status.ts'

const workers = 4
const revisionLabel = 'controller-revision-hash'

/** The tolerations that the DaemonSet controller adds to every pod. */
const tolerations: readonly Toleration[] = [
  ...['not-ready', 'unreachable'].map(name => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect: 'NoExecute',
  })),
  ...['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'].map(name => ({
    key: `node.kubernetes.io/${name}`,
    operator: 'Exists',
    effect: 'NoSchedule',
  })),
]

/** Keeps one pod on each eligible node. */
export class DaemonSetController extends ControlLoop {
  constructor(runtime: Runtime) {
    super('daemonset-controller', runtime, workers)
    const { caches } = runtime
    const sets = caches.of(daemonSets)
    this.watch(
      ownChangesOf(sets),
      ownerChangesOf(runtime, 'DaemonSet'),
      changesOf(caches.of(nodes), ({ old, new: node }) => {
        const isSame =
          old &&
          node &&
          sameStatus(old.metadata.labels, node.metadata.labels) &&
          sameStatus(old.spec?.taints, node.spec?.taints)
        return isSame ? [] : sets.list().map(({ metadata }) => keyOf(metadata))
      }),
    )
  }

  protected async reconcile(key: string): Promise<Requeue> {
    const { caches } = this.runtime
    const set = caches.of(daemonSets).get(refOf(key))
    if (!set || set.metadata.deletionTimestamp) return
    const hash = createHash('sha256').update(JSON.stringify(set.spec?.template)).digest('hex').slice(0, 10)
    const wanted = caches
      .of(nodes)
      .list()
      .filter(node => isEligible(node, set))
    const owned = () => caches.pods.byIndex('controller', set.metadata.uid)
    const byNode = new Map<string, Stored<Pod>[]>()
    for (const pod of owned()) byNode.set(nodeOf(pod), [...(byNode.get(nodeOf(pod)) ?? []), pod])
    for (const { metadata } of wanted)
      if (!byNode.has(metadata.name)) await this.#create(set, metadata.name, hash)
    for (const pod of owned().filter(isActive))
      if (!wanted.some(({ metadata }) => metadata.name === nodeOf(pod))) await deletePod(this.runtime, pod)
    for (const pod of owned())
      if (hasEnded(pod) && !pod.metadata.deletionTimestamp) await deletePod(this.runtime, pod)
    await this.#update(set, wanted.length, owned(), hash)
    await this.#writeStatus(set, wanted, owned(), hash)
  }

  async #create(set: Stored<DaemonSet>, node: string, hash: string): Promise<void> {
    const pod = podFrom(daemonSets, set, set.spec?.template, { labels: { [revisionLabel]: hash } })
    const terms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }]
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } }
    const spec = {
      ...pod.spec,
      affinity: { ...pod.spec?.affinity, nodeAffinity },
      tolerations: [...(pod.spec?.tolerations ?? []), ...tolerations],
    }
    await this.runtime.client.create(pods, { ...pod, spec })
  }

  /** Replaces pods of an older template, within maxUnavailable. */
  async #update(
    set: Stored<DaemonSet>,
    wanted: number,
    owned: readonly Stored<Pod>[],
    hash: string,
  ): Promise<void> {
    const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {}
    if (type !== 'RollingUpdate') return
    const most = Math.max(1, absolute(rollingUpdate?.maxUnavailable ?? 1, wanted, Math.ceil))
    let room = most - (wanted - owned.filter(pod => isActive(pod) && isReady(pod)).length)
    const old = owned.filter(pod => isActive(pod) && pod.metadata.labels?.[revisionLabel] !== hash)
    for (const pod of old.sort((a, b) => Number(isReady(a)) - Number(isReady(b)))) {
      if (isReady(pod) && room-- <= 0) return
      await deletePod(this.runtime, pod)
    }
  }

  async #writeStatus(
    set: Stored<DaemonSet>,
    wanted: readonly Stored<Node>[],
    owned: readonly Stored<Pod>[],
    hash: string,
  ): Promise<void> {
    const names = new Set(wanted.map(({ metadata }) => metadata.name))
    const active = owned.filter(isActive)
    const scheduled = active.filter(pod => names.has(nodeOf(pod)))
    const ready = scheduled.filter(isReady).length
    const status = {
      observedGeneration: set.metadata.generation,
      desiredNumberScheduled: wanted.length,
      currentNumberScheduled: new Set(scheduled.map(nodeOf)).size,
      numberMisscheduled: active.length - scheduled.length,
      numberReady: ready,
      numberAvailable: ready,
      numberUnavailable: wanted.length - ready,
      updatedNumberScheduled: scheduled.filter(({ metadata }) => metadata.labels?.[revisionLabel] === hash)
        .length,
    }
    if (sameStatus(status, set.status)) return
    try {
      await this.runtime.client.patch(
        daemonSets,
        set.metadata,
        { merge: { status } },
        { subresource: 'status' },
      )
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

function isEligible(node: Stored<Node>, set: Stored<DaemonSet>): boolean {
  const template = set.spec?.template
  const isSelected = nodeTest(podInfo({ metadata: {}, spec: template?.spec })) ?? (() => true)
  const tolerated = [...(template?.spec?.tolerations ?? []), ...tolerations]
  return (
    isSelected(new NodeState(node)) &&
    !untoleratedTaint(node.spec?.taints, tolerated, 'NoSchedule', 'NoExecute')
  )
}

/** Returns the node of a pod, or the node it is meant for before it is scheduled. */
function nodeOf({ spec }: Stored<Pod>): string {
  const terms =
    spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return spec?.nodeName || (terms?.[0]?.matchFields?.[0]?.values?.[0] ?? '')
}
