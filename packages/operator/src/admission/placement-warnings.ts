// SPDX-License-Identifier: Apache-2.0

// Warns about sets that can never fit on the present nodes. Everything that may change without a new node is relaxed:
// running pods, cordons, conditions of nodes, volumes, devices. A warning is therefore a proof for the present nodes.
// A set without a warning may still wait.
import {
  type ClusterTopologyBinding,
  conditionType,
  defaultScheduler,
  enabledSchedulers,
  exceededLimits,
  type Node,
  type OperatorConfiguration,
  type Pod,
  type PodCliqueSet,
  type PodGang,
  podTemplateHash,
  scheduler,
} from '@grove/api'
import {
  countScheduled,
  defaultPolicy,
  defaultSchedulerName,
  type ExplanationCode,
  type GangDecision,
  type Policy,
  plan,
  type SnapshotObjects,
  snapshotFrom,
} from '@grove/scheduler/core'
import type { StoredSet } from '../layout/stored.ts'
import { render } from '../render.ts'
import { schedulerBackends } from '../schedulers/registry.ts'

export interface PlacementFacts {
  /** Empty while the nodes are not known. */
  readonly nodes: readonly Node[]
  readonly topologyBindings: readonly ClusterTopologyBinding[]
}

/** A set with more pods is not evaluated as a whole. */
export const mostPods = 2_000

/**
 * A bound on search steps, not on time, so that results are reproducible. A search that needs more gives no warning.
 */
const policy: Policy = { ...defaultPolicy, fixes: false, budget: { gang: 100_000, cycle: 400_000 } }

/** Causes that only more nodes or a changed set can remove. */
const lastingCauses: ReadonlySet<ExplanationCode> = new Set<ExplanationCode>([
  'TopologyLevelUnlabelled',
  'ResourceUnknown',
  'SelectorMatchesNoNode',
  'PodTooLarge',
  'ClusterTooSmall',
  'DomainTooSmall',
  'TaintsNotTolerated',
  'PortsInUse',
  'PodAffinityUnsatisfied',
  'PodLimitReached',
])

/** Returns at most one warning for each kind of gang of the set. Throws if the set is invalid. */
export function placementWarnings(
  set: PodCliqueSet,
  facts: PlacementFacts,
  configuration: OperatorConfiguration,
): string[] {
  if (facts.nodes.length === 0 || !set.spec.replicas) return []
  const sample = oneOfEachGang(set)
  if (isTooLarge(sample)) return []
  const decisions = plan(snapshotFrom(emptyCluster(sample, facts, configuration)), policy, 0).gangs
  const nodes = facts.nodes.length === 1 ? '1 node' : `${facts.nodes.length} nodes`
  const warnings = decisions.flatMap(decision => {
    const cause = lastingCause(decision)
    return cause === undefined
      ? []
      : [
          `PodGang ${decision.name} cannot be scheduled on the present ${nodes}, even if they were empty: ${cause}`,
        ]
  })
  if (warnings.length > 0 || isTooLarge(set)) return warnings
  const { gangs, scheduled, proved } = countScheduled(
    snapshotFrom(emptyCluster(set, facts, configuration)),
    policy,
  )
  return proved && scheduled < gangs
    ? [
        `only ${scheduled} of ${gangs} PodGangs of PodCliqueSet ${set.metadata.name} fit on the present ${nodes} at the same time, even if they were empty`,
      ]
    : []
}

function lastingCause({ verdict, provenance, explanation }: GangDecision): string | undefined {
  if (verdict !== 'Unschedulable' || provenance !== 'proved' || !explanation) return undefined
  return lastingCauses.has(explanation.code) ? explanation.message : undefined
}

/** The gangs of different replicas are alike, and so are the scaled gangs of one group. */
function oneOfEachGang(set: PodCliqueSet): PodCliqueSet {
  const { template } = set.spec
  const groups = template.podCliqueScalingGroups?.map(group => ({
    ...group,
    replicas: Math.min(group.replicas ?? 1, (group.minAvailable ?? 1) + 1),
  }))
  return {
    ...set,
    spec: {
      ...set.spec,
      replicas: 1,
      template: { ...template, ...(groups && { podCliqueScalingGroups: groups }) },
    },
  }
}

function isTooLarge(set: PodCliqueSet): boolean {
  const limits = {
    podCliqueSetReplicas: mostPods,
    scalingGroupReplicas: mostPods,
    podCliqueReplicas: mostPods,
    podsPerPodCliqueSet: mostPods,
  }
  return exceededLimits(set, limits).length > 0
}

/** Renders the set for nodes that run nothing else, without constraints that depend on more than the nodes. */
function emptyCluster(
  set: PodCliqueSet,
  { nodes, topologyBindings }: PlacementFacts,
  configuration: OperatorConfiguration,
): SnapshotObjects {
  const backends = schedulerBackends([...enabledSchedulers(configuration)], defaultScheduler(configuration))
  const objects = render(set as StoredSet, {
    backends,
    configuration,
    // The image does not change the requests of a pod.
    waiterImage: 'waiter',
    topologyBindings,
    claimTemplates: [],
    podTemplateHashes: ({ spec: { template } }) =>
      Object.fromEntries(template.cliques.map(clique => [clique.name, podTemplateHash(template, clique)])),
  }) as unknown as readonly (Pod | PodGang)[]
  const packs = backends.nameFor(set as StoredSet) !== scheduler.default
  return {
    nodes: nodes.map(availableNode),
    pods: objects.filter((object): object is Pod => object.kind === 'Pod').map(relaxedPod),
    podGangs: objects
      .filter((object): object is PodGang => object.kind === 'PodGang')
      .map(gang => relaxedGang(gang, packs)),
    topologyBindings,
  }
}

/** Cordons and the taints of node conditions are temporary, so they are ignored. */
function availableNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const taints = (spec?.taints ?? []).filter(({ key }) => !key.startsWith('node.kubernetes.io/'))
  return { apiVersion, kind, metadata, spec: { taints }, ...(status && { status }) }
}

/**
 * Existing pods may satisfy affinity and spread constraints. Anti-affinity stays, because more pods never satisfy it.
 */
function relaxedPod(pod: Pod): Pod {
  const { volumes, resourceClaims, topologySpreadConstraints, affinity, ...spec } = pod.spec
  const { schedulingGroup: _, workloadRef: __, ...supported } = spec as typeof spec & Record<string, unknown>
  const { podAffinity, ...otherAffinity } = affinity ?? {}
  return {
    ...pod,
    spec: { ...supported, affinity: otherAffinity, schedulerName: defaultSchedulerName } as Pod['spec'],
  }
}

/** kube-scheduler ignores the topology constraints of pods that it schedules one by one. */
function relaxedGang(gang: PodGang, packs: boolean): PodGang {
  const { priorityClassName, ...spec } = gang.spec
  const { topologyConstraint, topologyConstraintGroupConfigs, ...unpacked } = spec
  return {
    ...gang,
    spec: packs
      ? spec
      : {
          ...unpacked,
          podgroups: spec.podgroups.map(({ topologyConstraint: _, ...group }) => group),
        },
    status: { phase: 'Pending', conditions: [initialized] },
  }
}

const initialized = {
  type: conditionType.podGangInitialized,
  status: 'True',
  reason: 'PodsCreated',
  message: '',
  lastTransitionTime: '1970-01-01T00:00:00Z',
} as const
