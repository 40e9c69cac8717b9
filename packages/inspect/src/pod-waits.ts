// SPDX-License-Identifier: Apache-2.0

// Describes why a pod is not ready. Pods with the same cause get the same text, so that they can be counted.
import type { Pod, PodClique } from '@grove/api'
import { label, podSchedulingGate, waiter } from '@grove/api/constants'

type Containers = NonNullable<NonNullable<Pod['status']>['containerStatuses']>

/** Reasons of waiting containers during a normal start. */
const ordinary = new Set(['ContainerCreating', 'PodInitializing'])

/** Why a pod is not ready. */
export interface PodWait {
  /** One word in CamelCase, for programs. */
  readonly reason: string
  /** One word for a line that has no space for more. */
  readonly short: string
  readonly text: string
  /** The message of the scheduler or the kubelet. */
  readonly detail?: string
}

/** Waits that another part of the set causes, or that end by themselves. They are not the root cause. */
export const dependentWaits: ReadonlySet<string> = new Set([
  'BaseGangNotReady',
  'GangIncomplete',
  'WaitingForCliques',
  'NotScheduled',
  'InitContainerRunning',
  'NotReady',
  'Starting',
  'Terminating',
])

/** The wait as one sentence. */
export function sentenceOf({ text, detail }: PodWait): string {
  return detail === undefined ? text : `${text}: ${detail}`
}

/** Undefined for a ready pod. */
export function whyNotReady(pod: Pod, cliques: ReadonlyMap<string, PodClique>): PodWait | undefined {
  if (pod.metadata.deletionTimestamp) return plain('Terminating', 'terminating')
  const gates = (pod.spec?.schedulingGates ?? []).map(({ name }) => name)
  if (gates.length > 0) return gateNote(pod, gates)
  const conditions = pod.status?.conditions ?? []
  if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return undefined
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'True')
    return scheduled?.reason === 'Unschedulable'
      ? detailed('Unschedulable', 'unschedulable', firstSentence(scheduled.message))
      : plain('NotScheduled', 'not scheduled yet')
  if (pod.status?.phase === 'Failed')
    return detailed(pod.status.reason || 'Failed', 'failed', because(pod.status.reason, pod.status.message))
  if (pod.status?.phase === 'Succeeded') return plain('Succeeded', 'ended')
  return (
    initNote(pod, cliques) ??
    containerNote(pod.status?.containerStatuses ?? []) ??
    (pod.status?.phase === 'Running' ? plain('NotReady', 'running, but not ready') : starting)
  )
}

/** Number of pods by reason, the most frequent first. */
export function countedWaits(pods: readonly Pod[], cliques: ReadonlyMap<string, PodClique>): CountedWait[] {
  const counts = new Map<string, CountedWait>()
  for (const pod of pods) {
    const wait = whyNotReady(pod, cliques)
    if (wait === undefined) continue
    const key = sentenceOf(wait)
    counts.set(key, { ...wait, pods: (counts.get(key)?.pods ?? 0) + 1 })
  }
  return [...counts.values()].sort((a, b) => b.pods - a.pods)
}

export interface CountedWait extends PodWait {
  readonly pods: number
}

const plain = (reason: string, text: string, short = text): PodWait => ({ reason, short, text })

const detailed = (reason: string, text: string, detail: string): PodWait =>
  detail === '' ? plain(reason, text) : { reason, short: text, text, detail }

const starting = plain('Starting', 'starting')

function gateNote(pod: Pod, gates: readonly string[]): PodWait {
  const others = gates.filter(gate => gate !== podSchedulingGate)
  if (others.length > 0) return plain('SchedulingGated', `gated by ${others.join(', ')}`, 'gated')
  const base = pod.metadata.labels?.[label.basePodGang]
  return base
    ? plain('BaseGangNotReady', `gated until base gang ${base} is ready`, 'gated')
    : plain('GangIncomplete', 'gated until the gang is complete', 'gated')
}

function initNote(pod: Pod, cliques: ReadonlyMap<string, PodClique>): PodWait | undefined {
  const specs = new Map((pod.spec?.initContainers ?? []).map(container => [container.name, container]))
  const current = (pod.status?.initContainerStatuses ?? []).find(
    ({ name, state, started }) =>
      state?.terminated?.exitCode !== 0 && !(specs.get(name)?.restartPolicy === 'Always' && started),
  )
  if (!current) return undefined
  if (current.name === waiter.containerName && !current.state?.waiting)
    return parentsNote(specs.get(current.name)?.args ?? [], cliques)
  return (
    containerNote([current]) ??
    plain('InitContainerRunning', `running init container ${current.name}`, 'initializing')
  )
}

/** The cliques that the startup waiter waits for and that are not ready. */
function parentsNote(args: readonly string[], cliques: ReadonlyMap<string, PodClique>): PodWait {
  const missing = args.flatMap(arg => {
    const [, name = '', count = ''] = /^--podcliques=(.+):(\d+)$/.exec(arg) ?? []
    const ready = cliques.get(name)?.status?.readyReplicas ?? 0
    return name !== '' && ready < Number(count) ? [`${name} (${ready}/${count} ready)`] : []
  })
  return missing.length > 0
    ? plain('WaitingForCliques', `waits for ${missing.join(', ')} to be ready`, 'waiting')
    : starting
}

function containerNote(statuses: Containers): PodWait | undefined {
  for (const { name, image, state } of statuses) {
    const { reason = '', message } = state?.waiting ?? {}
    if (reason === '' || ordinary.has(reason)) continue
    if (/^(ErrImage|ImagePull|InvalidImage)/.test(reason)) return detailed(reason, reason, `image ${image}`)
    if (reason === 'CrashLoopBackOff')
      return plain(reason, `container ${name} crashes repeatedly`, 'crashing')
    return {
      ...detailed(reason, `container ${name}: ${reason}`, because(undefined, message)),
      short: reason,
    }
  }
  const ended = statuses.find(({ state }) => state?.terminated && state.terminated.exitCode !== 0)
  if (!ended) return undefined
  const { exitCode } = ended.state?.terminated ?? {}
  return plain('ContainerExited', `container ${ended.name} ended with exit code ${exitCode}`, 'exited')
}

function because(...args: readonly (string | undefined)[]): string {
  const text = args.filter(arg => arg).join(': ')
  return firstSentence(text)
}

/** Schedulers append details about preemption, which are cut off. */
function firstSentence(text = ''): string {
  return text.split(/\.\s|\.$|\n/)[0]!
}
