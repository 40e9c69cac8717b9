// SPDX-License-Identifier: Apache-2.0

// Kubelets reject pods that do not fit, for example because another scheduler has used the node at the same time. The
// next attempt of the gang avoids the node for some time.
import { label, type Pod } from '@grove/api'

/** A gang avoids a node for this time after the kubelet of the node has rejected one of its pods. */
export const avoidNodeMs = 30_000

/** Reasons that a kubelet writes when it does not admit a pod. */
const admissionReasons =
  /^(OutOf.+|UnexpectedAdmissionError|InvalidNodeInfo|NodeAffinity|NodeName|NodePorts|TaintToleration|TopologyAffinityError|PodOSSelectorNodeLabelDoesNotMatch|PodOSNotSupported)$/

export function isRejectedByKubelet({ spec, status }: Pod): boolean {
  return status?.phase === 'Failed' && Boolean(spec.nodeName) && admissionReasons.test(status.reason ?? '')
}

export interface Rejection {
  readonly namespace: string
  readonly pod: string
  readonly gang: string
  readonly node: string
  readonly reason: string
}

/** Remembers which gangs avoid which nodes. Times are monotonic. */
export class RejectedPods {
  /** Pods that were seen, so that each counts once. */
  #seen: ReadonlySet<string> = new Set()
  /** By gang, then by node: the end of the time. */
  readonly #avoided = new Map<string, Map<string, number>>()

  /** Records rejected pods among all pods, and returns those that are new. */
  observe(pods: readonly Pod[], schedulerName: string, now: number): Rejection[] {
    const rejected = pods.filter(
      pod =>
        pod.spec.schedulerName === schedulerName &&
        pod.metadata.labels?.[label.podGang] &&
        isRejectedByKubelet(pod),
    )
    const fresh = rejected.filter(({ metadata }) => !this.#seen.has(metadata.uid ?? ''))
    this.#seen = new Set(rejected.map(({ metadata }) => metadata.uid ?? ''))
    this.#forgetExpired(now)
    return fresh.map(({ metadata, spec, status }) => {
      const { namespace = 'default', name, labels } = metadata
      const gang = labels![label.podGang]!
      const node = spec.nodeName!
      const key = `${namespace}/${gang}`
      const nodes = this.#avoided.get(key) ?? new Map<string, number>()
      this.#avoided.set(key, nodes.set(node, now + avoidNodeMs))
      return { namespace, pod: name, gang, node, reason: status?.reason ?? '' }
    })
  }

  /** The pods with a node affinity that keeps waiting pods from the nodes that their gangs avoid. */
  avoiding<P extends Pod>(pods: readonly P[]): readonly P[] {
    if (this.#avoided.size === 0) return pods
    return pods.map(pod => {
      const { namespace = 'default', labels } = pod.metadata
      const nodes = this.#avoided.get(`${namespace}/${labels?.[label.podGang]}`)
      return nodes && !pod.spec.nodeName ? withoutNodes(pod, [...nodes.keys()].sort()) : pod
    })
  }

  /** Time until the first node is no longer avoided. */
  msUntilExpiry(now: number): number | undefined {
    const ends = [...this.#avoided.values()].flatMap(nodes => [...nodes.values()])
    return ends.length ? Math.max(0, Math.min(...ends) - now) : undefined
  }

  #forgetExpired(now: number): void {
    for (const [gang, nodes] of this.#avoided) {
      for (const [node, end] of nodes) if (end <= now) nodes.delete(node)
      if (nodes.size === 0) this.#avoided.delete(gang)
    }
  }
}

/** Terms of a node selector are alternatives, so each of them excludes the nodes. An empty term matches no node anyway. */
function withoutNodes<P extends Pod>(pod: P, nodes: string[]): P {
  const exclusion = { key: 'metadata.name', operator: 'NotIn', values: nodes }
  const { affinity } = pod.spec
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const nodeSelectorTerms = required
    ? required.nodeSelectorTerms.map(term =>
        term.matchExpressions?.length || term.matchFields?.length
          ? { ...term, matchFields: [...(term.matchFields ?? []), exclusion] }
          : term,
      )
    : [{ matchFields: [exclusion] }]
  const nodeAffinity = {
    ...affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
  }
  return { ...pod, spec: { ...pod.spec, affinity: { ...affinity, nodeAffinity } } }
}
