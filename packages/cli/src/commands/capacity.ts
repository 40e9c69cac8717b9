// SPDX-License-Identifier: Apache-2.0

import {
  capacity,
  defaultPolicy,
  type Gang,
  type Snapshot,
  type SnapshotObjects,
  snapshotFrom,
  withOwnClaims,
} from '@grove/scheduler'
import { CommandError } from '../command-error.ts'
import { capacityLines } from '../placement/capacity-text.ts'
import {
  type PlacementOptions,
  placementApiVersion,
  readPlacementInput,
} from '../placement/placement-input.ts'
import type { RenderedSet } from '../placement/rendered-sets.ts'
import { printJson, printLines } from '../terminal/print.ts'
import { wholeNumber } from './options.ts'

export interface CapacityOptions extends PlacementOptions {
  readonly max?: string
  readonly output: string
}

/** Far above the number of copies that users plan for. Counting further copies of small pods would take long. */
const defaultMost = 1_000

/** Prints how many more copies of the sets fit. */
export async function showCapacity(options: CapacityOptions): Promise<void> {
  const most = options.max === undefined ? defaultMost : wholeNumber('--max', options.max)
  if (most === 0) throw new CommandError('--max must be at least 1')
  if (!options.filename) throw new CommandError('nothing to count; add -f FILE')
  const { objects, sets } = await readPlacementInput(options)
  const { template, all } = snapshotsOf(objects, sets)
  if (template.length === 0) throw new CommandError('the sets have no gangs; set replicas to 1 or more')
  const found = capacity({
    snapshot: all,
    template,
    waitingPods: all.gangs.flatMap(({ groups }) =>
      groups.flatMap(({ candidates, gated }) => [...candidates, ...gated]),
    ),
    most,
    policy: defaultPolicy,
    now: Date.now(),
  })
  if (options.output === 'json') printJson({ apiVersion: placementApiVersion, kind: 'Capacity', ...found })
  else printLines(capacityLines(found, template, most))
}

/** One copy of all sets as gangs, and the cluster. A copy shares no pod and no resource claim with a set that runs. */
function snapshotsOf(
  objects: SnapshotObjects,
  sets: readonly RenderedSet[],
): { readonly template: readonly Gang[]; readonly all: Snapshot } {
  const { pods, resourceClaims } = withOwnClaims({
    pods: sets.flatMap(set => set.pods),
    resourceClaims: sets.flatMap(set => set.resourceClaims),
  })
  const together = { ...objects, resourceClaims: [...(objects.resourceClaims ?? []), ...resourceClaims] }
  const podGangs = sets.flatMap(set => set.podGangs)
  return {
    template: snapshotFrom({ ...together, pods, podGangs }, { claimingPods: objects.pods }).gangs,
    all: snapshotFrom(together, { claimingPods: pods }),
  }
}
