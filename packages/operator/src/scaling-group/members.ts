// SPDX-License-Identifier: Apache-2.0

// The writes by which a scaling group comes to its member cliques.
import { eventSource, events, label, type PodClique, scalingGroupErrorCode } from '@grove/api'
import { isAlreadyExists, type Stored } from '@grove/kube'
import { patchObject } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, textOf } from '../errors/coded-error.ts'
import type { CliqueInstance } from '../layout/layout.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import { cliqueLabels, podClique } from '../objects/clique.ts'
import type { OperatorContext } from '../operator-context.ts'
import { patchClique } from '../ownership/child-fields.ts'
import { revisionOf } from '../revision/set-revision.ts'

export async function createMember(
  set: StoredSet,
  group: StoredScalingGroup,
  member: CliqueInstance,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { caches, events: sink } = context
  const id = `${set.metadata.namespace}/${member.name}`
  try {
    await caches.client.create(resources.podCliques, memberClique(set, group, member), {
      signal,
      priority: 'user',
    })
    sink.emit(group, eventSource.podCliqueScalingGroup, events.memberCliqueCreated(id))
  } catch (error) {
    if (isAlreadyExists(error) && (await isAwaited(group, member, context, signal))) return
    sink.emit(group, eventSource.podCliqueScalingGroup, events.memberCliqueCreateFailed(id, textOf(error)))
    throw new CodedError('Sync', scalingGroupErrorCode.createCliques, `Error creating PodClique ${id}`, error)
  }
}

/**
 * Whether the watch will tell of what has the name already: it is ours and was not seen yet, or a namesake of
 * ours that is on its way out. What else has it stands in the way.
 */
async function isAwaited(
  { metadata }: StoredScalingGroup,
  member: CliqueInstance,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<boolean> {
  const ref = { namespace: metadata.namespace, name: member.name }
  const holder = await caches.client.find(resources.podCliques, ref, { signal })
  if (!holder) return false
  if (isControlledBy(holder, metadata.uid)) return true
  const { deletionTimestamp, labels } = holder.metadata
  return deletionTimestamp !== undefined && labels?.[label.scalingGroup] === metadata.name
}

/** Puts the labels right by which a member is found; those of its template stay as they are. */
export async function repairMember(
  set: StoredSet,
  clique: PodClique,
  member: CliqueInstance,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { [label.podTemplateHash]: _, ...wanted } = cliqueLabels(set, member, '')
  const wrong = Object.entries(wanted).filter(([key, value]) => clique.metadata.labels?.[key] !== value)
  if (wrong.length === 0) return
  const { name } = clique.metadata
  const { namespace } = set.metadata
  const merge = { metadata: { labels: Object.fromEntries(wrong) } }
  try {
    await patchObject(caches, resources.podCliques, clique as Stored<PodClique>, { merge }, { signal })
  } catch (error) {
    const message = `Error labelling PodClique ${namespace}/${name}`
    throw new CodedError('Sync', scalingGroupErrorCode.applyCliques, message, error)
  }
}

/** Brings a member to its template. */
export async function patchMember(
  set: StoredSet,
  group: StoredScalingGroup,
  clique: PodClique,
  member: CliqueInstance,
  { caches, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const wanted = memberClique(set, group, member)
  const patch = patchClique(clique as Parameters<typeof patchClique>[0], wanted)
  if (!patch) return
  const { namespace } = set.metadata
  const id = `${namespace}/${member.name}`
  try {
    await patchObject(caches, resources.podCliques, clique as Stored<PodClique>, { merge: patch }, { signal })
    sink.emit(group, eventSource.podCliqueScalingGroup, events.cliqueApplied(id))
  } catch (error) {
    sink.emit(group, eventSource.podCliqueScalingGroup, events.memberCliqueApplyFailed(id, textOf(error)))
    throw new CodedError('Sync', scalingGroupErrorCode.applyCliques, `Error updating PodClique ${id}`, error)
  }
}

function memberClique(set: StoredSet, group: StoredScalingGroup, member: CliqueInstance): PodClique {
  return podClique(set, member, group, revisionOf(set).templateHashes[member.template.name] ?? '')
}
