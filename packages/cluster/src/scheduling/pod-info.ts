// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '../controllers/kinds.ts'
import type { LabelSelector, PodAffinityTerm, WeightedPodAffinityTerm } from '../schema/types.generated.ts'
import { type Amounts, addTo, assumedRequests, podRequests } from './resources.ts'
import { type Labels, type LabelTest, labelTest } from './selector.ts'

/** One compiled affinity or anti-affinity term. */
export interface AffinityTerm {
  readonly topologyKey: string
  readonly weight: number
  /** Reports whether the term matches the pod. */
  matches(pod: PodInfo, namespaceLabels: (namespace: string) => Labels): boolean
  /** The namespaces of the term; undefined for a namespace selector. */
  readonly namespaces: ReadonlySet<string> | undefined
}

export interface HostPort {
  readonly protocol: string
  readonly address: string
  readonly port: number
}

/** Precomputed scheduling properties of a pod. They depend only on the pod. */
export interface PodInfo {
  readonly pod: Pod
  /** Namespace and name. */
  readonly key: string
  readonly namespace: string
  readonly labels: Labels
  readonly priority: number
  readonly terminating: boolean
  readonly requests: Amounts
  /** Including the defaults that scores assume for pods without requests. */
  readonly assumed: Amounts
  readonly ports: readonly HostPort[]
  readonly requiredAffinity: readonly AffinityTerm[]
  readonly requiredAntiAffinity: readonly AffinityTerm[]
  readonly preferredAffinity: readonly AffinityTerm[]
  readonly preferredAntiAffinity: readonly AffinityTerm[]
}

const known = new WeakMap<Pod, PodInfo>()
const noTerms: readonly AffinityTerm[] = []
const noLabels: Labels = {}

export function podInfo(pod: Pod): PodInfo {
  let info = known.get(pod)
  if (!info) {
    info = inspect(pod)
    known.set(pod, info)
  }
  return info
}

function inspect(pod: Pod): PodInfo {
  const { namespace = '', name = '', labels = noLabels } = pod.metadata ?? {}
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {}
  const requests = podRequests(pod.spec)
  const required = (terms: readonly PodAffinityTerm[] | undefined) =>
    terms?.map(term => affinityTerm(term, 0, namespace, labels)) ?? noTerms
  const preferred = (terms: readonly WeightedPodAffinityTerm[] | undefined) =>
    terms?.map(({ weight = 0, podAffinityTerm = {} }) =>
      affinityTerm(podAffinityTerm, weight, namespace, labels),
    ) ?? noTerms
  return {
    pod,
    key: `${namespace}/${name}`,
    namespace,
    labels,
    priority: pod.spec?.priority ?? 0,
    terminating: pod.metadata?.deletionTimestamp !== undefined,
    requests,
    assumed: withAssumed(requests),
    ports: hostPorts(pod),
    requiredAffinity: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    requiredAntiAffinity: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution),
    preferredAffinity: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
    preferredAntiAffinity: preferred(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution),
  }
}

function withAssumed(requests: Amounts): Amounts {
  if (requests.get('cpu') && requests.get('memory')) return requests
  const assumed = new Map(requests)
  for (const [resource, amount] of assumedRequests)
    if (!assumed.get(resource)) addTo(assumed, new Map([[resource, amount]]))
  return assumed
}

function hostPorts(pod: Pod): HostPort[] {
  const found: HostPort[] = []
  const sidecars = (pod.spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  for (const { ports = [] } of [...sidecars, ...(pod.spec?.containers ?? [])])
    for (const { hostPort, hostIP, protocol } of ports)
      if (hostPort) found.push({ protocol: protocol ?? 'TCP', address: hostIP || '0.0.0.0', port: hostPort })
  return found
}

function affinityTerm(term: PodAffinityTerm, weight: number, own: string, ownLabels: Labels): AffinityTerm {
  const selected = withLabelKeys(term, ownLabels)
  const namespaceTest = term.namespaceSelector && labelTest(term.namespaceSelector)
  const listed = term.namespaces ?? []
  const names = new Set(listed.length === 0 && !namespaceTest ? [own] : listed)
  return {
    topologyKey: term.topologyKey ?? '',
    weight,
    namespaces: namespaceTest ? undefined : names,
    matches: (pod, namespaceLabels) =>
      (names.has(pod.namespace) || (namespaceTest?.(namespaceLabels(pod.namespace)) ?? false)) &&
      selected(pod.labels),
  }
}

/** `matchLabelKeys` adds the pod's own values. The API server also writes the result into the selector. */
function withLabelKeys(term: PodAffinityTerm, own: Labels): LabelTest {
  const base = labelTest(term.labelSelector)
  const same = (term.matchLabelKeys ?? []).filter(key => own[key] !== undefined)
  const other = (term.mismatchLabelKeys ?? []).filter(key => own[key] !== undefined)
  if (same.length + other.length === 0) return base
  return labels =>
    base(labels) &&
    same.every(key => labels[key] === own[key]) &&
    other.every(key => labels[key] !== undefined && labels[key] !== own[key])
}

/** The selector of a spread constraint, with `matchLabelKeys` resolved. */
export function spreadTest(
  selector: LabelSelector | undefined,
  keys: readonly string[] | undefined,
  own: Labels,
): LabelTest {
  return withLabelKeys({ labelSelector: selector, matchLabelKeys: keys?.slice() }, own)
}
