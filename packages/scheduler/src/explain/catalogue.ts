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
}

/** All codes. The message template names its facts in braces. */
export const catalogue: Readonly<Record<ExplanationCode, CatalogueEntry>> = {
  UnsupportedConstraint: {
    tier: 'Misconfigured',
    message: 'not supported by grove-scheduler: {field} of PodClique {clique}',
  },
  TopologyLevelUnlabelled: {
    tier: 'Misconfigured',
    message: 'no node has the labels of level {level} ({key})',
  },
  PriorityClassNotFound: { tier: 'Misconfigured', message: 'PriorityClass {name} does not exist' },
  ClaimNotFound: { tier: 'Misconfigured', message: '{kind} {name} of PodClique {clique} does not exist' },
  ResourceUnknown: {
    tier: 'Misconfigured',
    message: 'no node offers {resource}, which PodClique {clique} requests',
  },
  SelectorMatchesNoNode: {
    tier: 'Misconfigured',
    message: 'node selector of PodClique {clique} matches none of {n} nodes',
  },
  PodGangNotFound: { tier: 'Blocked', message: 'PodGang {name} does not exist yet; {n} pods wait for it' },
  PodsNotCreated: { tier: 'Blocked', message: 'PodClique {clique} has {have} of {need} pods' },
  PodsGated: { tier: 'Blocked', message: '{n} pods of PodClique {clique} wait for scheduling gate {gate}' },
  BaseGangNotScheduled: { tier: 'Blocked', message: 'waits for base gang {base}: {reason}' },
  PodTooLarge: {
    tier: 'Impossible',
    message: 'a pod of PodClique {clique} needs {need} {resource}; the largest node {node} has {have}',
  },
  ClusterTooSmall: {
    tier: 'Impossible',
    message: 'the gang needs {need}; all {n} eligible nodes together can hold {have}',
  },
  DomainTooSmall: {
    tier: 'Impossible',
    message: '{scope} needs {need} in one {level}; the largest {level} {domain} can ever hold {have}',
  },
  PinnedDomainFull: { tier: 'Fragmented', message: '{scope} runs in {domain}, which lacks {short}' },
  Terminating: {
    tier: 'WaitingForRelease',
    message: '{n} pods are terminating on {nodes}; then the gang fits',
  },
  NodesNotReady: { tier: 'WaitingForCapacity', message: 'fits once {nodes} are ready' },
  NodesCordoned: { tier: 'WaitingForCapacity', message: 'fits if {nodes} were uncordoned' },
  TaintsNotTolerated: {
    tier: 'WaitingForCapacity',
    message: 'fits if PodClique {clique} tolerated {taint} of {n} nodes',
  },
  HeldForEarlierGang: { tier: 'Blocked', message: '{holder} comes first ({reason}) and takes {resources}' },
  Reserved: { tier: 'Blocked', message: '{domain} is reserved for {holder} since {time}' },
  PortsInUse: { tier: 'WaitingForCapacity', message: 'host port {port} is in use on {n} of {m} nodes' },
  PodAffinityUnsatisfied: {
    tier: 'WaitingForCapacity',
    message: '{rule} of PodClique {clique} leaves {have} of {need} nodes',
  },
  VolumeUnavailable: {
    tier: 'WaitingForCapacity',
    message: 'volumes of PodClique {clique} can be used on {n} nodes only',
  },
  DevicesUnavailable: {
    tier: 'WaitingForCapacity',
    message: '{claim} can be used on {n} nodes only; {short} devices of class {class} missing',
  },
  PodLimitReached: { tier: 'WaitingForCapacity', message: '{n} nodes have no free pod slot' },
  NoDomainFits: {
    tier: 'Fragmented',
    message:
      '{scope} needs {need} in one {level}; best is {domain} with {have} ({short} missing), {tried} tried',
  },
  NodesFragmented: {
    tier: 'Fragmented',
    message: '{free} {resource} are free but on too many nodes: pods of {clique} need {n} on one node',
  },
  InsufficientCapacity: {
    tier: 'WaitingForCapacity',
    message:
      '{short} {resource} missing: {need} needed, {free} free on {n} eligible nodes; {holders} hold the rest',
  },
  BindFailed: { tier: 'Evaluating', message: 'the last attempt to bind failed: {reason}' },
  BudgetExhausted: { tier: 'Evaluating', message: 'no result yet: the search gave up after {steps} steps' },
  NotYetEvaluated: { tier: 'Evaluating', message: 'the first scheduling cycle is pending' },
}

/** Fills a message. A fact that is missing is a programming error. */
export function messageOf(code: ExplanationCode, facts: Facts): string {
  return catalogue[code].message.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = facts[name]
    if (value === undefined) throw new Error(`the message of ${code} needs the fact ${name}`)
    return String(value)
  })
}
