// SPDX-License-Identifier: Apache-2.0
import type { ExplanationCode, Tier } from '../types.ts'

/** Values that a message shows, by the name that the message uses. */
export interface Facts {
  readonly [name: string]: string | number
}

export interface CatalogueEntry {
  readonly tier: Tier
  /** Text with facts in braces. Stable: users and tests search for it. */
  readonly message: string
  /** Advice for the user. */
  readonly action: string
}

/** All codes. The message template names its facts in braces. */
export const catalogue: Readonly<Record<ExplanationCode, CatalogueEntry>> = {
  UnsupportedConstraint: {
    tier: 'Misconfigured',
    message: 'not supported by grove-scheduler: {field} of PodClique {clique}',
    action: 'Remove the field from the PodClique, or use another scheduler for the set.',
  },
  TopologyLevelUnlabelled: {
    tier: 'Misconfigured',
    message: 'no node has the labels of level {level} ({key})',
    action: 'Label the nodes, or correct the key in the ClusterTopologyBinding.',
  },
  PriorityClassNotFound: {
    tier: 'Misconfigured',
    message: 'PriorityClass {name} does not exist',
    action: 'Create the PriorityClass, or correct its name in the set.',
  },
  ClaimNotFound: {
    tier: 'Misconfigured',
    message: '{kind} {name} of PodClique {clique} does not exist',
    action: 'Create the object, or correct its name in the PodClique.',
  },
  ResourceUnknown: {
    tier: 'Misconfigured',
    message: 'no node offers {resource}, which PodClique {clique} requests',
    action: 'Check that the device plugin runs, or correct the name of the resource.',
  },
  SelectorMatchesNoNode: {
    tier: 'Misconfigured',
    message: 'node selector of PodClique {clique} matches none of {n} nodes',
    action: 'Label nodes, or correct the node selector or node affinity.',
  },
  PodGangNotFound: {
    tier: 'Blocked',
    message: 'PodGang {name} does not exist yet; {n} pods wait for it',
    action: 'Wait for the operator. If this stays, read the events of the PodCliqueSet.',
  },
  PodsNotCreated: {
    tier: 'Blocked',
    message: 'PodClique {clique} has {have} of {need} pods',
    action: 'Wait for the operator. If this stays, read the events of the PodClique.',
  },
  PodsGated: {
    tier: 'Blocked',
    message: '{n} pods of PodClique {clique} wait for scheduling gate {gate}',
    action: 'Find the controller that owns the gate. The scheduler never removes gates.',
  },
  BaseGangNotScheduled: {
    tier: 'Blocked',
    message: 'waits for base gang {base}: {reason}',
    action: 'Fix the base gang first.',
  },
  PodTooLarge: {
    tier: 'Impossible',
    message: 'a pod of PodClique {clique} needs {need} {resource}; the largest node {node} has {have}',
    action: 'Lower the requests of the pod, or add larger nodes.',
  },
  ClusterTooSmall: {
    tier: 'Impossible',
    message: 'the gang needs {need}; all {n} eligible nodes together can hold {have}',
    action: 'Add nodes, or lower `minAvailable`, replicas or requests.',
  },
  DomainTooSmall: {
    tier: 'Impossible',
    message: '{scope} needs {need} in one {level}; the largest {level} {domain} can ever hold {have}',
    action: 'Require a broader level, or lower `minAvailable`.',
  },
  PinnedDomainFull: {
    tier: 'Fragmented',
    message: '{scope} runs in {domain}, which lacks {short}',
    action: 'Free room in that domain. Pods that run are never moved.',
  },
  Terminating: {
    tier: 'WaitingForRelease',
    message: '{n} pods are terminating on {nodes}; then the gang fits',
    action: 'Wait until the pods are gone.',
  },
  NodesNotReady: {
    tier: 'WaitingForCapacity',
    message: 'fits once {nodes} are ready',
    action: 'Repair the nodes.',
  },
  NodesCordoned: {
    tier: 'WaitingForCapacity',
    message: 'fits if {nodes} were uncordoned',
    action: 'Uncordon the nodes.',
  },
  TaintsNotTolerated: {
    tier: 'WaitingForCapacity',
    message: 'fits if PodClique {clique} tolerated {taint} of {n} nodes',
    action: 'Add a toleration, or remove the taint.',
  },
  HeldForEarlierGang: {
    tier: 'Blocked',
    message: '{holder} comes first ({reason}) and takes {resources}',
    action: 'Wait, add nodes, or give the gang a higher priority.',
  },
  Reserved: {
    tier: 'Blocked',
    message: '{domain} is reserved for {holder} since {time}',
    action: 'Wait for the holder of the reservation.',
  },
  PortsInUse: {
    tier: 'WaitingForCapacity',
    message: 'host port {port} is in use on {n} of {m} nodes',
    action: 'Use another host port, or none.',
  },
  PodAffinityUnsatisfied: {
    tier: 'WaitingForCapacity',
    message: '{rule} of PodClique {clique} leaves {have} of {need} nodes',
    action: 'Relax the rule, or add nodes that satisfy it.',
  },
  VolumeUnavailable: {
    tier: 'WaitingForCapacity',
    message: 'volumes of PodClique {clique} can be used on {n} nodes only',
    action: 'Move the volumes, or free room on the nodes that can use them.',
  },
  DevicesUnavailable: {
    tier: 'WaitingForCapacity',
    message: '{claim} can be used on {n} nodes only; {short} devices of class {class} missing',
    action: 'Free devices, or add nodes that have them.',
  },
  PodLimitReached: {
    tier: 'WaitingForCapacity',
    message: '{n} nodes have no free pod slot',
    action: 'Raise the pod limit of the nodes, or free pod slots.',
  },
  NoDomainFits: {
    tier: 'Fragmented',
    message:
      '{scope} needs {need} in one {level}; best is {domain} with {have} ({short} missing), {tried} tried',
    action: 'Free room in one domain, or require a broader level.',
  },
  NodesFragmented: {
    tier: 'Fragmented',
    message: '{free} {resource} are free but on too many nodes: pods of {clique} need {n} on one node',
    action: 'Free room on one node, or split the request into smaller pods.',
  },
  InsufficientCapacity: {
    tier: 'WaitingForCapacity',
    message:
      '{short} {resource} missing: {need} needed, {free} free on {n} eligible nodes; {holders} hold the rest',
    action: 'Wait, add nodes, or delete pods that hold the resource.',
  },
  BindFailed: {
    tier: 'Evaluating',
    message: 'the last attempt to bind failed: {reason}',
    action: 'Wait: the scheduler tries again.',
  },
  BudgetExhausted: {
    tier: 'Evaluating',
    message: 'no result yet: the search gave up after {steps} steps',
    action: 'Raise `budget` in the SchedulerConfiguration, or simplify the constraints.',
  },
  NotYetEvaluated: {
    tier: 'Evaluating',
    message: 'the first scheduling cycle is pending',
    action: 'Wait for the next cycle. If this stays, check that grove-scheduler runs.',
  },
}

/** Fills a message. A fact that is missing is a programming error. */
export function messageOf(code: ExplanationCode, facts: Facts): string {
  return catalogue[code].message.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = facts[name]
    if (value === undefined) throw new Error(`the message of ${code} needs the fact ${name}`)
    return String(value)
  })
}
