// SPDX-License-Identifier: Apache-2.0

// Reads the revision history of a set.
import {
  type ControllerRevision,
  generationHash,
  label,
  type PodCliqueSet,
  type RevisionRecord,
} from '@grove/api'
import type { Stored } from '@grove/kube/client'
import { changeCause, numberOf, recordOf } from '@grove/operator/history'
import { resources } from '@grove/operator/resources'
import type { LiveCluster } from '../clusters/live-cluster.ts'
import { noSuchSet } from '../clusters/set-objects.ts'
import { CommandError } from '../command-error.ts'
import { wholeNumber } from '../commands/options.ts'

export interface Revision {
  readonly number: number
  readonly hash: string
  readonly created: string | undefined
  readonly cause: string | undefined
  /** True for the revision of the current template. */
  readonly current: boolean
  readonly record: RevisionRecord
}

export interface SetHistory {
  readonly set: Stored<PodCliqueSet>
  /** Oldest first. */
  readonly revisions: readonly Revision[]
}

export async function readHistory(cluster: LiveCluster, name: string): Promise<SetHistory> {
  const { client, namespace } = cluster
  const set = await client.find(resources.podCliqueSets, { name, namespace })
  if (!set) throw await noSuchSet(cluster, name)
  const wanted = generationHash(set.spec)
  const { items } = await client.list(resources.controllerRevisions, {
    namespace,
    labelSelector: `${label.partOf}=${name}`,
  })
  const revisions = items
    .filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ controller, uid }) => controller && uid === set.metadata.uid),
    )
    .flatMap(object => revisionsFrom(object, wanted))
    .sort((a, b) => a.number - b.number)
  return { set, revisions }
}

/** The revision with a number, or by default the newest one before the current. */
export function revisionNumbered(
  { set, revisions }: SetHistory,
  option: string,
  text: string | undefined,
): Revision {
  const number = text === undefined ? 0 : wholeNumber(option, text)
  // As in kubectl, 0 is the previous revision.
  const found =
    number === 0
      ? revisions.filter(({ current }) => !current).at(-1)
      : revisions.find(revision => revision.number === number)
  if (found) return found
  const { name } = set.metadata
  const there = revisions.map(revision => revision.number).join(', ')
  if (number === 0) throw new CommandError(`${name} has no earlier revision in its history`, 1)
  throw new CommandError(
    there ? `${name} has no revision ${number}, only ${there}` : `${name} has no revision in its history`,
    1,
  )
}

function revisionsFrom(object: Stored<ControllerRevision>, wanted: string): Revision[] {
  const record = recordOf(object)
  if (!record) return []
  const hash = generationHash(record)
  const { annotations, creationTimestamp } = object.metadata
  return [
    {
      number: numberOf(object),
      hash,
      created: creationTimestamp,
      cause: annotations?.[changeCause],
      current: hash === wanted,
      record,
    },
  ]
}
