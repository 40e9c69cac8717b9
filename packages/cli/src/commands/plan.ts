// SPDX-License-Identifier: Apache-2.0

import { CommandError } from '../command-error.ts'
import {
  type PlacementOptions,
  placementApiVersion,
  readPlacementInput,
} from '../placement/placement-input.ts'
import { planLines } from '../placement/plan-text.ts'
import { planCluster } from '../placement/planned-cluster.ts'
import { printJson, printLines } from '../terminal/print.ts'

export interface PlanOptions extends PlacementOptions {
  readonly pending?: boolean
  readonly output: string
}

/** Prints where pods would run. The exit code is 1 if some gang does not fit. */
export async function planPlacement(options: PlanOptions): Promise<number> {
  if (!options.filename && !options.pending)
    throw new CommandError('nothing to plan; add -f FILE for sets, or --pending for waiting gangs')
  const { objects, sets } = await readPlacementInput(options)
  const planned = planCluster({ objects, sets, pending: options.pending ?? false, now: Date.now() })
  const { gangs, steps } = planned
  const fits = gangs.every(({ verdict }) => verdict === 'Scheduled')
  if (options.output === 'json')
    printJson({ apiVersion: placementApiVersion, kind: 'Plan', fits, steps, gangs })
  else printLines(planLines(planned))
  return fits ? 0 : 1
}
