// SPDX-License-Identifier: Apache-2.0

import type { Line } from '../terminal/line.ts'
import type { PlannedCluster } from './planned-cluster.ts'

export function planLines({ gangs }: PlannedCluster): Line[] {
  return gangs.map(({ name, verdict }) => `${name} ${verdict}`)
}
