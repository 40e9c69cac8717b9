// SPDX-License-Identifier: Apache-2.0

import { type Client, isNotFound, type KubeObject, type Resource } from '@grove/kube'
import { type HandbackPatch, planHandback, resources } from '@grove/operator'
import { type ClusterOptions, type LiveCluster, withCluster } from '../clusters/live-cluster.ts'
import { readSet } from '../clusters/set-objects.ts'
import { CommandError } from '../command-error.ts'
import { readLease } from '../doctor/observe.ts'
import { printLines } from '../terminal/print.ts'

export interface HandbackOptions extends ClusterOptions {
  readonly operatorNamespace: string
  readonly allNamespaces?: boolean
  /** Without it nothing is written. */
  readonly yes?: boolean
}

const resourceOf = {
  PodCliqueSet: resources.podCliqueSets,
  PodCliqueScalingGroup: resources.podCliqueScalingGroups,
  PodClique: resources.podCliques,
  Pod: resources.pods,
} as const

const leaseName = 'grove-operator-leader-election'
/** The number of parallel requests. */
const parallel = 16

/** Prepares sets for the Go operator. The exit code is 1 if a set cannot be handed back now. */
export async function handback(names: readonly string[], options: HandbackOptions): Promise<number> {
  return withCluster(options, async cluster => {
    if (options.yes) await requireStoppedOperator(cluster.client, options.operatorNamespace)
    let isComplete = true
    for (const { name, namespace } of await setsFor(cluster, names, options)) {
      const plan = planHandback(await readSet({ ...cluster, namespace }, name))
      if (plan.outcome === 'blocked') {
        isComplete = false
        printLines([`${namespace}/${name}: not handed back: ${plan.reason}`])
        continue
      }
      if (options.yes) await send(cluster.client, namespace, plan.patches)
      const counts = [...Map.groupBy(plan.patches, ({ kind }) => kind)].map(
        ([kind, same]) => `${new Set(same.map(({ name: of }) => of)).size} ${kind}s`,
      )
      const verb = options.yes ? 'rewrote' : 'would rewrite'
      printLines([
        plan.patches.length === 0
          ? `${namespace}/${name}: has the hashes of the Go operator already`
          : `${namespace}/${name}: ${verb} the hashes of ${counts.join(', ')}; no pod restarts`,
      ])
    }
    if (!options.yes) printLines(['Nothing was written. Stop the operator, then run the command with --yes.'])
    return isComplete ? 0 : 1
  })
}

async function setsFor(
  { client, namespace }: LiveCluster,
  names: readonly string[],
  { allNamespaces }: HandbackOptions,
): Promise<{ name: string; namespace: string }[]> {
  if (names.length > 0 && allNamespaces) throw new CommandError('name sets or use --all-namespaces, not both')
  if (names.length > 0) return names.map(name => ({ name, namespace }))
  const { items } = await client.list(resources.podCliqueSets, allNamespaces ? {} : { namespace })
  return items.map(({ metadata }) => ({ name: metadata.name, namespace: metadata.namespace ?? namespace }))
}

/** A running operator takes the sets over again at once. */
async function requireStoppedOperator(client: Client, namespace: string): Promise<void> {
  const lease = await readLease(client, namespace, leaseName)
  if (!lease?.holder) return
  const ageMs = Date.now() - lease.renewedAt
  if (ageMs > lease.durationSeconds * 1000) return
  throw new CommandError(
    `${lease.holder} holds the Lease ${namespace}/${leaseName}: the operator runs and would take the sets over again. ` +
      `Run: kubectl scale -n ${namespace} deployment/grove-operator --replicas=0`,
    1,
  )
}

/** In the order of the plan: the pods of a clique before the clique, the set last. */
async function send(client: Client, namespace: string, patches: readonly HandbackPatch[]): Promise<void> {
  const pending = [...patches]
  while (pending.length > 0) {
    const kind = pending[0]!.kind
    const run = pending.findIndex(patch => patch.kind !== kind)
    const batch = pending.splice(0, Math.min(parallel, run === -1 ? pending.length : run))
    // A label and the status of one object are separate patches, which do not conflict.
    await Promise.all(batch.map(patch => sendOne(client, namespace, patch)))
  }
}

async function sendOne(
  client: Client,
  namespace: string,
  { kind, name, subresource, merge }: HandbackPatch,
): Promise<void> {
  try {
    await client.patch(
      resourceOf[kind] as Resource<KubeObject>,
      { name, namespace },
      { merge },
      subresource ? { subresource } : {},
    )
  } catch (error) {
    // The object was deleted meanwhile.
    if (!isNotFound(error)) throw error
  }
}
