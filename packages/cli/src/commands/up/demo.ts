// SPDX-License-Identifier: Apache-2.0

// Applies a demo workload and shows it until the cluster stops.
import type { PodCliqueSet } from '@grove/api'
import { causesOf, causeText, isUnschedulable, type SetObjects } from '@grove/inspect'
import { isKubeError, type KubeObject } from '@grove/kube'
import { isAvailable, resources, type StoredSet } from '@grove/operator'
import { CommandError } from '../../command-error.ts'
import { readManifests } from '../../manifests/manifest.ts'
import { kindOf } from '../../manifests/manifest-value.ts'
import { setsAmong } from '../../manifests/set-manifest.ts'
import { type ManifestObject, objectOf, resolveObject } from '../../objects/manifest-objects.ts'
import { ServedKinds } from '../../objects/served-kinds.ts'
import { faint } from '../../terminal/line.ts'
import { printLines } from '../../terminal/print.ts'
import { columnsOf, terminal } from '../../terminal/terminal.ts'
import { followSet } from '../../tree/followed-set.ts'
import { LiveView } from '../../tree/live-view.ts'
import { treePicture } from '../../tree/set-tree.ts'
import type { LocalCluster } from './local-cluster.ts'
import { applyCommandFor } from './messages.ts'
import { workloadNamed } from './playground.ts'

/** A workload that takes longer is considered stuck. */
const readyWithinMs = 120_000
/** A gang that does not fit for this time is reported. Shorter waits occur while nodes and pods appear. */
const doesNotFitAfterMs = 3_000
/** Redraw interval on a terminal, where ages change. */
const agesEveryMs = 1_000

/** Shown below the tree if the screen is too short for the text above it. */
const scrollUp = 'Scroll up for commands to try. Press Ctrl-C to stop the cluster.'

export interface Demo {
  readonly path: string
  readonly sets: readonly PodCliqueSet[]
  /** Definitions of the workload, which must be served before the operator starts. */
  readonly definitions: readonly KubeObject[]
  /** Objects that are applied before the sets. */
  readonly others: readonly ManifestObject[]
  readonly configuration?: string
}

export interface Shown {
  readonly set: string
  readonly namespace: string
  readonly path: string
  /** A scaling group of the set, for the suggested scale command. */
  readonly group: { readonly name: string; readonly replicas: number } | undefined
  /** A node that runs one of its pods. */
  readonly node: string
  /** Why it is not ready. Undefined if it is ready. */
  readonly cause?: string
}

export interface ShowDemoOptions {
  readonly signal: AbortSignal
  /** Stops when the workload is ready, or when it is stuck. */
  readonly exitWhenReady: boolean
  /** Lines to print when the workload is ready for the first time, or does not fit. */
  readonly whatNext: (shown: Shown) => string[]
}

/** Reads a workload of the playground by its name, or any file. */
export async function readDemo(arg: string): Promise<Demo> {
  const workload = workloadNamed(arg)
  const documents = await readManifests([workload.path])
  const sets = setsAmong(documents).map(({ value }) => value as PodCliqueSet)
  const others = documents.filter(document => kindOf(document) !== 'PodCliqueSet').map(objectOf)
  const isDefinition = ({ kind }: ManifestObject) => kind === 'CustomResourceDefinition'
  return {
    ...workload,
    sets,
    definitions: others.filter(isDefinition).map(({ value }) => value),
    others: others.filter(object => !isDefinition(object)),
  }
}

/** Applies the sets and shows the first one until the signal aborts. Reports whether it has ever been ready. */
export async function showDemo(
  cluster: LocalCluster,
  { path, sets, others }: Demo,
  options: ShowDemoOptions,
): Promise<boolean> {
  const kinds = await ServedKinds.of(cluster.client)
  for (const object of others) await applyOthers(cluster, object, kinds)
  for (const set of sets) await apply(cluster, set, path)
  const { name = '', namespace = 'default' } = sets[0]!.metadata
  return watchDemo(cluster, { name, namespace }, path, options)
}

async function watchDemo(
  { client }: LocalCluster,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  path: string,
  { signal, exitWhenReady, whatNext }: ShowDemoOptions,
): Promise<boolean> {
  const { stdout } = terminal()
  const isTTY = stdout.isTTY ?? false
  const view = new LiveView(stdout)
  const started = Date.now()
  let wasReady = false
  let isLate = false
  let unfitSince: number | undefined
  let isReported = false
  /** Number of lines above the tree. */
  let said = 0
  const say = (shown: Shown) => {
    const text = [...whatNext(shown), '']
    said = text.length
    view.say(text)
  }
  for await (const seen of followSet(client, { name, namespace }, { signal, atLeastEveryMs: agesEveryMs })) {
    const { lines, notes } = seen
      ? treePicture(
          seen,
          isTTY ? { columns: columnsOf(terminal()), ...(wasReady && { now: Date.now() }) } : {},
        )
      : {
          lines: [],
          notes: [faint(`PodCliqueSet ${name} was deleted. To create it again: ${applyCommandFor(path)}`)],
        }
    if (!wasReady && seen && isReady(seen)) {
      wasReady = true
      if (exitWhenReady) view.end(lines, notes)
      else view.show(lines, notes)
      say(shownOf(seen, { name, namespace }, path))
      if (exitWhenReady) return true
    }
    const cause = seen && !wasReady ? unfitCause(seen) : undefined
    unfitSince = cause === undefined ? undefined : (unfitSince ?? Date.now())
    if (
      cause !== undefined &&
      !exitWhenReady &&
      !isReported &&
      Date.now() - unfitSince! >= doesNotFitAfterMs
    ) {
      isReported = true
      say({ ...shownOf(seen!, { name, namespace }, path), cause })
    }
    const hinted = [...notes, ...(notes.length === 0 ? [''] : []), faint(scrollUp)]
    const rows = isTTY ? (stdout.rows ?? 0) : 0
    const hasHint = said > 0 && said + lines.length > rows && lines.length + hinted.length < rows
    view.show(lines, hasHint ? hinted : notes)
    if (wasReady || isLate || isReported || Date.now() - started < readyWithinMs) continue
    const late = `${name} was not ready within ${readyWithinMs / 1000} s${cause === undefined ? '; the tree shows the reason' : `: ${cause}`}`
    if (exitWhenReady) throw new CommandError(late, 1)
    isLate = true
    view.say([late, ''])
  }
  return wasReady
}

function shownOf(
  { groups, pods }: SetObjects,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  path: string,
): Shown {
  const [group] = groups.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  return {
    set: name,
    namespace,
    path,
    group: group && { name: group.metadata.name ?? '', replicas: group.spec.replicas },
    node: pods.find(pod => pod.spec?.nodeName)?.spec?.nodeName ?? 'node-0',
  }
}

async function apply({ client }: LocalCluster, set: PodCliqueSet, path: string): Promise<void> {
  const metadata = { ...set.metadata, namespace: set.metadata.namespace ?? 'default' }
  try {
    await client.create(resources.podCliqueSets, { ...set, metadata })
  } catch (error) {
    // A cluster with --data has it from an earlier run.
    if (isKubeError(error, 'AlreadyExists'))
      printLines([`${metadata.name} exists already and is not changed`])
    else if (isKubeError(error)) throw new CommandError(`${path}: ${error.message}`, 1)
    else throw error
  }
}

async function applyOthers(
  { client }: LocalCluster,
  object: ManifestObject,
  kinds: ServedKinds,
): Promise<void> {
  const { resource, value } = await resolveObject(object, kinds, { namespace: 'default', isExplicit: false })
  try {
    await client.create(resource, value)
  } catch (error) {
    if (isKubeError(error, 'AlreadyExists')) return
    if (isKubeError(error)) throw new CommandError(`${object.place}: ${error.message}`, 1)
    throw error
  }
}

/** The root cause of a set that is not scheduled. */
function unfitCause(objects: SetObjects): string | undefined {
  const [cause] = causesOf(objects)
  return cause !== undefined && isUnschedulable(cause) ? causeText(cause) : undefined
}

function isReady({ set, cliques }: SetObjects): boolean {
  return (
    isAvailable(set as StoredSet) &&
    cliques.every(({ spec, status }) => (status?.readyReplicas ?? 0) >= spec.replicas)
  )
}
