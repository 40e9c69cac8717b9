// SPDX-License-Identifier: Apache-2.0

// Describes why a pod is not ready. Pods with the same cause get the same text, so that they can be counted.
import { label, type Pod, type PodClique, podSchedulingGate, waiter } from '@grove/api'

type Containers = NonNullable<NonNullable<Pod['status']>['containerStatuses']>

/** Reasons of waiting containers during a normal start. */
const ordinary = new Set(['ContainerCreating', 'PodInitializing'])

/** Undefined for a ready pod. */
export function whyNotReady(pod: Pod, cliques: ReadonlyMap<string, PodClique>): string | undefined {
  if (pod.metadata.deletionTimestamp) return 'terminating'
  const gates = (pod.spec?.schedulingGates ?? []).map(({ name }) => name)
  if (gates.length > 0) return gateNote(pod, gates)
  const conditions = pod.status?.conditions ?? []
  if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return undefined
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'True')
    return scheduled?.reason === 'Unschedulable'
      ? `unschedulable: ${firstSentence(scheduled.message)}`
      : 'not scheduled yet'
  if (pod.status?.phase === 'Failed') return `failed${because(pod.status.reason, pod.status.message)}`
  if (pod.status?.phase === 'Succeeded') return 'ended'
  return (
    initNote(pod, cliques) ??
    containerNote(pod.status?.containerStatuses ?? []) ??
    (pod.status?.phase === 'Running' ? 'running, but not ready' : 'starting')
  )
}

/** Number of pods by reason, the most frequent first. */
export function countedWaits(
  pods: readonly Pod[],
  cliques: ReadonlyMap<string, PodClique>,
): { readonly pods: number; readonly why: string }[] {
  const counts = new Map<string, number>()
  for (const pod of pods) {
    const why = whyNotReady(pod, cliques)
    if (why !== undefined) counts.set(why, (counts.get(why) ?? 0) + 1)
  }
  return [...counts].map(([why, count]) => ({ pods: count, why })).sort((a, b) => b.pods - a.pods)
}

function gateNote(pod: Pod, gates: readonly string[]): string {
  const others = gates.filter(gate => gate !== podSchedulingGate)
  if (others.length > 0) return `gated by ${others.join(', ')}`
  const base = pod.metadata.labels?.[label.basePodGang]
  return base ? `gated until base gang ${base} is ready` : 'gated until the gang is complete'
}

function initNote(pod: Pod, cliques: ReadonlyMap<string, PodClique>): string | undefined {
  const specs = new Map((pod.spec?.initContainers ?? []).map(container => [container.name, container]))
  const current = (pod.status?.initContainerStatuses ?? []).find(
    ({ name, state, started }) =>
      state?.terminated?.exitCode !== 0 && !(specs.get(name)?.restartPolicy === 'Always' && started),
  )
  if (!current) return undefined
  if (current.name === waiter.containerName && !current.state?.waiting)
    return parentsNote(specs.get(current.name)?.args ?? [], cliques)
  return containerNote([current]) ?? `running init container ${current.name}`
}

/** The cliques that the startup waiter waits for and that are not ready. */
function parentsNote(args: readonly string[], cliques: ReadonlyMap<string, PodClique>): string {
  const missing = args.flatMap(arg => {
    const [, name = '', count = ''] = /^--podcliques=(.+):(\d+)$/.exec(arg) ?? []
    const ready = cliques.get(name)?.status?.readyReplicas ?? 0
    return name !== '' && ready < Number(count) ? [`${name} (${ready}/${count} ready)`] : []
  })
  return missing.length > 0 ? `waits for ${missing.join(', ')} to be ready` : 'starting'
}

function containerNote(statuses: Containers): string | undefined {
  for (const { name, image, state } of statuses) {
    const { reason = '', message } = state?.waiting ?? {}
    if (reason === '' || ordinary.has(reason)) continue
    if (/^(ErrImage|ImagePull|InvalidImage)/.test(reason)) return `${reason}: image ${image}`
    if (reason === 'CrashLoopBackOff') return `container ${name} crashes repeatedly`
    return `container ${name}: ${reason}${because(undefined, message)}`
  }
  const ended = statuses.find(({ state }) => state?.terminated && state.terminated.exitCode !== 0)
  return ended && `container ${ended.name} ended with exit code ${ended.state?.terminated?.exitCode}`
}

function because(...args: readonly (string | undefined)[]): string {
  const text = args.filter(arg => arg).join(': ')
  return text === '' ? '' : `: ${firstSentence(text)}`
}

/** Schedulers append details about preemption, which are cut off. */
function firstSentence(text = ''): string {
  return text.split(/\.\s|\.$|\n/)[0]!
}
