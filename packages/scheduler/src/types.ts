// SPDX-License-Identifier: Apache-2.0

// The contract of the placement core: `plan(snapshot, policy, now)` returns a decision. Everything here is a plain value.
import type {
  ClusterTopologyBinding,
  LabelSelector,
  Namespace,
  Node,
  NodeSelector,
  ObjectMeta,
  PersistentVolumeClaimSpec,
  Pod,
  PodAffinityTerm,
  PodGang,
  PriorityClass,
  ResourceClaim,
  ResourceClaimTemplate,
  Taint,
  Toleration,
  TopologySpreadConstraint,
} from '@grove/api'

/** The part of a PersistentVolume that the core reads. */
export interface PersistentVolume {
  readonly metadata: ObjectMeta
  readonly spec?: { readonly nodeAffinity?: { readonly required?: NodeSelector } }
}

/** The part of a PersistentVolumeClaim that the core reads. */
export interface PersistentVolumeClaim {
  readonly metadata: ObjectMeta
  readonly spec?: PersistentVolumeClaimSpec
}

/** The part of a StorageClass that the core reads. */
export interface StorageClass {
  readonly metadata: ObjectMeta
  readonly volumeBindingMode?: string
  readonly allowedTopologies?: readonly {
    readonly matchLabelExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[]
  }[]
}

/** The part of a PodDisruptionBudget that the core reads. */
export interface PodDisruptionBudget {
  readonly metadata: ObjectMeta
  readonly spec?: { readonly selector?: LabelSelector }
  readonly status?: { readonly disruptionsAllowed?: number }
}

/** The part of a ResourceSlice that the core reads. Other fields of devices make them unsupported. */
export interface ResourceSlice {
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly driver: string
    readonly nodeName?: string
    readonly pool: {
      readonly name: string
      readonly generation?: number
      readonly resourceSliceCount?: number
    }
    readonly devices?: readonly SliceDevice[]
  } & Readonly<Record<string, unknown>>
}

export interface SliceDevice {
  readonly name: string
  readonly attributes?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly capacity?: Readonly<Record<string, { readonly value?: unknown }>>
  readonly taints?: readonly { readonly effect?: string }[]
  readonly [field: string]: unknown
}

/** The part of a DeviceClass that the core and the binder read. */
export interface DeviceClass {
  readonly metadata: ObjectMeta
  readonly spec?: {
    readonly selectors?: readonly { readonly cel?: { readonly expression: string } }[]
    readonly config?: readonly Readonly<Record<string, unknown>>[]
  } & Readonly<Record<string, unknown>>
}

/** A pod that the scheduler has assigned to a node, before the watch shows the binding. */
export interface AssumedPod {
  readonly namespace: string
  readonly name: string
  readonly uid?: string
  readonly node: string
}

/** Lists as the watch caches hold them. Order does not matter. Absent lists are empty. */
export interface SnapshotObjects {
  readonly nodes: readonly Node[]
  /** All pods of the cluster, of any scheduler. */
  readonly pods: readonly Pod[]
  readonly podGangs: readonly PodGang[]
  readonly topologyBindings?: readonly ClusterTopologyBinding[]
  readonly priorityClasses?: readonly PriorityClass[]
  readonly namespaces?: readonly Namespace[]
  readonly persistentVolumes?: readonly PersistentVolume[]
  readonly persistentVolumeClaims?: readonly PersistentVolumeClaim[]
  readonly storageClasses?: readonly StorageClass[]
  readonly podDisruptionBudgets?: readonly PodDisruptionBudget[]
  readonly resourceSlices?: readonly ResourceSlice[]
  readonly resourceClaims?: readonly ResourceClaim[]
  readonly resourceClaimTemplates?: readonly ResourceClaimTemplate[]
  readonly deviceClasses?: readonly DeviceClass[]
}

export interface SnapshotOptions {
  /** `spec.schedulerName` of the pods that this scheduler places. Default: grove-scheduler. */
  readonly schedulerName?: string
  readonly assumed?: readonly AssumedPod[]
  /**
   * The snapshot of the last cycle. Unchanged parts are reused, so that the cost of a cycle depends on the changes. The
   * result is equal with and without it.
   */
  readonly previous?: Snapshot
  /** Nodes on which missing pods of a gang ran before, by namespace and name of the gang. */
  readonly formerNodes?: ReadonlyMap<string, readonly string[]>
  /**
   * Pods that are not part of the snapshot and whose resource claims count. Devices have equal names in snapshots with the
   * same pods and claims, so gangs of one can be placed in the other.
   */
  readonly claimingPods?: readonly Pod[]
}

/** The input of the planner. All lists are in canonical order, so equal clusters give equal snapshots. */
export interface Snapshot {
  /** Ascending by name. */
  readonly nodes: readonly SnapshotNode[]
  /** Pods that hold resources on a node, of any scheduler. Ascending by namespace and name. */
  readonly boundPods: readonly SnapshotPod[]
  /** In planning order. */
  readonly gangs: readonly Gang[]
  /** Pods of this scheduler that name a PodGang that does not exist. */
  readonly strayPods: readonly SnapshotPod[]
  /** Labels of namespaces, by name: for namespace selectors. */
  readonly namespaceLabels: ReadonlyMap<string, Labels>
  /** Ascending by namespace and name. */
  readonly disruptionBudgets: readonly DisruptionBudget[]
  /** Devices that no claim holds, by node: those that a waiting claim can use, in the order of preference. */
  readonly freeDevices: ReadonlyMap<string, readonly FreeDevice[]>
}

export interface FreeDevice {
  readonly driver: string
  readonly pool: string
  readonly name: string
  /** Selections, as requests of claims name them, that select the device. */
  readonly selections: readonly number[]
}

/** A PodDisruptionBudget: the number of selected pods that may be evicted now. */
export interface DisruptionBudget {
  readonly namespace: string
  readonly name: string
  readonly selector: LabelSelector | undefined
  readonly allowed: number
}

export type Labels = Readonly<Record<string, string>>

/** Amounts in whole units; cpu in thousandths. */
export type Amounts = Readonly<Record<string, number>>

export interface SnapshotNode {
  readonly name: string
  readonly labels: Labels
  readonly allocatable: Amounts
  readonly taints: readonly Taint[]
  readonly unschedulable: boolean
}

export interface SnapshotPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly labels: Labels
  /** Undefined while the pod is not bound. */
  readonly node: string | undefined
  readonly terminating: boolean
  /** Names of scheduling gates. */
  readonly gates: readonly string[]
  /** Value of `grove.io/podclique-pod-index`; pods without one come last. */
  readonly index: number
  readonly priority: number
  readonly createdAt: number
  /** The PodGang that the pod names, also for pods of other schedulers. */
  readonly gang: string | undefined
  readonly podClique: string | undefined
  readonly needs: PodNeeds
  /** Resource claims of the pod that exist, in the order of its spec. */
  readonly claims: readonly PodClaim[]
  /** PersistentVolumeClaims whose volumes are provisioned for the node that the pod gets. */
  readonly volumeClaims: readonly string[]
}

/** A ResourceClaim that a pod uses. */
export interface PodClaim {
  readonly name: string
  readonly uid: string
  readonly isAllocated: boolean
  /** Names of device classes that the requests name. */
  readonly classes: readonly string[]
  /** Only if the claim is not allocated: devices to be allocated, by number of a selection. */
  readonly requests: readonly {
    readonly name: string
    readonly selection: number
    readonly count: number
  }[]
}

/** All fields of a pod that a filter reads. Pods of one clique have equal needs. */
export interface PodNeeds {
  readonly requests: Amounts
  readonly nodeSelector: Labels
  readonly nodeAffinity: NodeSelector | undefined
  readonly tolerations: readonly Toleration[]
  readonly hostPorts: readonly HostPort[]
  readonly podAffinity: readonly PodAffinityTerm[]
  readonly podAntiAffinity: readonly PodAffinityTerm[]
  readonly spread: readonly TopologySpreadConstraint[]
  /** Node selectors of the volumes; all of them must match. */
  readonly volumeSelectors: readonly NodeSelector[]
  /** Node selectors of allocated resource claims; all of them must match. */
  readonly claimSelectors: readonly NodeSelector[]
  /**
   * Resource claims that are not allocated yet and that other pods use too. Their pods run on one node, which provides the
   * devices once. Devices of claims that no other pod uses are part of `requests`.
   */
  readonly sharedClaims: readonly { readonly name: string; readonly devices: Amounts }[]
  /** Objects that the pod names and that do not exist. */
  readonly missing: readonly MissingObject[]
  /**
   * Paths of fields that the core does not support, such as `spec.schedulingGroup`. A pod with such a field is never
   * placed.
   */
  readonly unsupported: readonly string[]
}

export interface MissingObject {
  readonly kind: string
  readonly name: string
  /** A controller of Kubernetes is about to create the object. */
  readonly isAwaited?: true
}

export interface HostPort {
  readonly port: number
  readonly protocol: string
  readonly address: string
}

/** One level of a ClusterTopologyBinding. */
export interface Level {
  readonly domain: string
  readonly key: string
}

/** Node-label keys. */
export interface PackConstraint {
  readonly required?: string
  readonly preferred?: string
}

export interface GroupConfig {
  readonly name: string
  /** Names of the groups. A group is in at most one config: the first that names it. */
  readonly groups: readonly string[]
  readonly constraint: PackConstraint
}

export interface Group {
  /** Name of the PodClique. */
  readonly name: string
  readonly minReplicas: number
  readonly constraint: PackConstraint
  /** Live pods that are bound. */
  readonly placed: readonly SnapshotPod[]
  /** Live, unbound, without gates; in the order of their index. */
  readonly candidates: readonly SnapshotPod[]
  readonly gated: readonly SnapshotPod[]
}

export interface Gang {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly podCliqueSet: string
  /** Index of the PodCliqueSet replica. */
  readonly replica: number
  readonly role: 'base' | 'scaled'
  readonly baseGang: string | undefined
  readonly createdAt: number
  readonly priority: number
  readonly priorityClassName: string | undefined
  readonly priorityClassExists: boolean
  readonly preemptionPolicy: string
  /** Condition Initialized is True. */
  readonly initialized: boolean
  /** Condition Scheduled is True. */
  readonly scheduled: boolean
  /** Since when condition Scheduled is not True, in milliseconds. */
  readonly waitingSince: number | undefined
  /** Levels of the binding that `grove.io/topology-name` names, broadest first. */
  readonly levels: readonly Level[]
  readonly constraint: PackConstraint
  readonly configs: readonly GroupConfig[]
  readonly groups: readonly Group[]
  /** A scope that needs several preferred domains is split evenly between them. */
  readonly isBalanced: boolean
  /** Only with `replicaScope: Require`, for gangs of a PodCliqueSet replica whose base gang has a required level. */
  readonly replicaScope?: ReplicaScope
  /** Nodes where missing pods of this gang ran before, or pods of the gang that `reuseReservationRef` names. */
  readonly formerNodes: readonly string[]
  readonly reuseReservation: { readonly namespace: string; readonly name: string } | undefined
}

/** The domain that all gangs of a PodCliqueSet replica share. */
export interface ReplicaScope {
  /** Namespace and name of the base gang. */
  readonly id: string
  /** Name for users. */
  readonly name: string
  /** The required key of the base gang. */
  readonly key: string
  readonly levels: readonly Level[]
  /** Nodes of running pods of all gangs of the replica. */
  readonly nodes: readonly string[]
}

export interface Policy {
  /**
   * Gangs of one PodCliqueSet replica share the base gang's required domain. Prefer: if this costs no score. Require:
   * always.
   */
  readonly replicaScope: 'Prefer' | 'Require'
  readonly preemption: 'Enabled' | 'Disabled'
  readonly reservation: { readonly afterSeconds: number; readonly maxNodesPercent: number } | undefined
  /** Steps, not time: so that equal snapshots give equal decisions on every machine. */
  readonly budget: { readonly gang: number; readonly cycle: number }
  /** Search for fixes; each costs several re-plans. */
  readonly fixes: boolean
}

export type Verdict = 'Scheduled' | 'Unschedulable' | 'Blocked'
export type Provenance = 'proved' | 'budget-exhausted'

export interface Decision {
  /** One entry for every PodGang, in planning order. */
  readonly gangs: readonly GangDecision[]
  /** PodGangs that pods name and that do not exist. */
  readonly missingGangs: readonly MissingGang[]
  /** In binding order: minimum pods gang by gang, then surplus. */
  readonly bindings: readonly PodBinding[]
  /** Only with preemption enabled. */
  readonly evictions: readonly Eviction[]
  /** When the decision can change without an event, in milliseconds since 1970. */
  readonly nextDeadline: number | undefined
  readonly steps: number
}

export interface MissingGang {
  readonly namespace: string
  readonly name: string
  /** Names of the pods that wait for it. */
  readonly pods: readonly string[]
  readonly explanation: Explanation
}

export interface PodBinding {
  readonly namespace: string
  readonly pod: string
  readonly uid: string
  readonly node: string
  readonly gang: string
  readonly podGroup: string
  readonly part: 'minimum' | 'surplus'
  /** Resource claims to be allocated and reserved before the pod is bound. Absent if the pod has none. */
  readonly claims?: readonly ClaimAllocation[]
  /** PersistentVolumeClaims that must select the node before the pod is bound. Absent if the pod has none. */
  readonly volumeClaims?: readonly string[]
}

export interface ClaimAllocation {
  readonly name: string
  readonly uid: string
  /** Absent if the claim is allocated already. */
  readonly devices?: readonly AllocatedDevice[]
}

export interface AllocatedDevice {
  readonly request: string
  readonly driver: string
  readonly pool: string
  readonly device: string
}

export interface Eviction {
  readonly namespace: string
  readonly pod: string
  readonly uid: string
  /** The PodGang that loses the pod, if it belongs to one. */
  readonly gang: string | undefined
  readonly preemptor: { readonly namespace: string; readonly name: string }
}

export interface GangDecision {
  readonly namespace: string
  readonly name: string
  readonly podCliqueSet: string
  readonly replica: number
  readonly role: 'base' | 'scaled'
  readonly baseGang?: string
  readonly priority: number
  readonly verdict: Verdict
  readonly provenance: Provenance
  /** Only if the verdict is Scheduled. */
  readonly placementScore?: number
  readonly scopes: readonly ScopeDecision[]
  /** Every live pod that is not bound yet. */
  readonly pods: readonly PodDecision[]
  /** Only if the verdict is not Scheduled. */
  readonly explanation?: Explanation
}

export interface PodDecision {
  readonly name: string
  readonly podGroup: string
  readonly node: string | null
  readonly part: 'minimum' | 'surplus'
}

/** Level name to label value. */
export type DomainName = Readonly<Record<string, string>>

export type ScopeKind = 'replica' | 'gang' | 'groupConfig' | 'podGroup'

export interface ScopeDecision {
  readonly name: string
  readonly kind: ScopeKind
  readonly required?: { readonly level: string; readonly key: string; readonly domain: DomainName | null }
  readonly preferred?: {
    readonly level: string
    readonly key: string
    /** The number of levels that the scope had to widen. */
    readonly widened: number
    /** The number of preferred domains that the scope uses. */
    readonly domains: number
    readonly score: number
  }
}

export type Tier =
  | 'Misconfigured'
  | 'Blocked'
  | 'Impossible'
  | 'Fragmented'
  | 'WaitingForRelease'
  | 'WaitingForCapacity'
  | 'Evaluating'

export type ExplanationCode =
  | 'UnsupportedConstraint'
  | 'TopologyLevelUnlabelled'
  | 'PriorityClassNotFound'
  | 'ClaimNotFound'
  | 'ResourceUnknown'
  | 'SelectorMatchesNoNode'
  | 'PodGangNotFound'
  | 'PodsNotCreated'
  | 'PodsGated'
  | 'BaseGangNotScheduled'
  | 'PodTooLarge'
  | 'ClusterTooSmall'
  | 'DomainTooSmall'
  | 'PinnedDomainFull'
  | 'Terminating'
  | 'NodesNotReady'
  | 'NodesCordoned'
  | 'TaintsNotTolerated'
  | 'HeldForEarlierGang'
  | 'Reserved'
  | 'PortsInUse'
  | 'PodAffinityUnsatisfied'
  | 'VolumeUnavailable'
  | 'DevicesUnavailable'
  | 'PodLimitReached'
  | 'NoDomainFits'
  | 'NodesFragmented'
  | 'InsufficientCapacity'
  | 'BindFailed'
  | 'BudgetExhausted'
  | 'NotYetEvaluated'

export interface Explanation {
  readonly code: ExplanationCode
  readonly tier: Tier
  readonly message: string
  readonly provenance: Provenance
  readonly steps: number
  /** Name of the scope that does not fit. */
  readonly scope?: string
  readonly level?: string
  readonly evidence: Evidence
  /** At most five, cheapest first. Each was verified: with it applied, the minimum fits. */
  readonly fixes: readonly Fix[]
  /** True if the search for fixes ended early, because many gangs wait. There may be other or cheaper fixes. */
  readonly fixesCutShort?: true
  /** RFC 3339. */
  readonly since: string
  /** Nodes that are reserved for this gang, because it has waited for long. */
  readonly reservation?: { readonly nodes: readonly string[]; readonly since: string }
  /** The gang or base gang that this gang waits for. */
  readonly waitsFor?: { readonly kind: string; readonly namespace: string; readonly name: string }
}

export interface Evidence {
  /** Best first, at most five. */
  readonly domains: readonly DomainEvidence[]
  readonly domainsTried: number
  readonly nodes: NodeEvidence
  readonly groups: readonly { readonly podGroup: string; readonly need: number; readonly placeable: number }[]
  /** At most ten. */
  readonly holders: readonly Holder[]
}

export interface DomainEvidence {
  readonly domain: DomainName
  /** Pods that the domain can hold. */
  readonly fits: number
  readonly need: number
  readonly short: Amounts
}

export interface NodeEvidence {
  readonly total: number
  readonly eligible: number
  /** Nodes by the first filter that excludes them. */
  readonly excluded: Readonly<Record<NodeExclusion, number>>
}

export type NodeExclusion =
  | 'cordon'
  | 'taint'
  | 'selector'
  | 'resources'
  | 'ports'
  | 'affinity'
  | 'volume'
  | 'claim'

export interface Holder {
  readonly kind: 'PodGang' | 'Pod'
  readonly namespace: string
  readonly name: string
  readonly resources: Amounts
  readonly pods: number
}

/** A change after which the minimum of the gang fits. `cost` is the number of objects to change. */
export type Fix = { readonly cost: number } & (
  | { readonly op: 'Uncordon'; readonly nodes: readonly string[] }
  | { readonly op: 'RemoveTaint'; readonly nodes: readonly string[]; readonly taint: Taint }
  | { readonly op: 'AddToleration'; readonly podGroups: readonly string[]; readonly toleration: Toleration }
  | {
      readonly op: 'RelaxTopology'
      readonly scope: string
      readonly from: string
      readonly to: string | null
    }
  | { readonly op: 'LowerMinAvailable'; readonly podGroup: string; readonly to: number }
  | {
      readonly op: 'DeletePods'
      readonly pods: readonly { readonly namespace: string; readonly name: string }[]
      readonly holder?: string
    }
  | { readonly op: 'AddNodes'; readonly count: number; readonly like: string }
)

/** Decides for all gangs. Pure: no clock, no randomness, no API. `now` is in milliseconds since 1970. */
export type Plan = (snapshot: Snapshot, policy: Policy, now: number) => Decision
