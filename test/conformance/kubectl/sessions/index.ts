// SPDX-License-Identifier: Apache-2.0

import { accessSessions } from './access.ts'
import { discoverySessions } from './discovery.ts'
import { fileSessions } from './files.ts'
import { generatorSessions } from './generators.ts'
import { nodeSessions } from './nodes.ts'
import { objectSessions } from './objects.ts'
import { podSessions } from './pods.ts'
import { setSessions } from './sets.ts'
import { workloadSessions } from './workloads.ts'

export const allSessions = [
  ...discoverySessions,
  ...objectSessions,
  ...fileSessions,
  ...accessSessions,
  ...podSessions,
  ...workloadSessions,
  ...nodeSessions,
  ...generatorSessions,
  ...setSessions,
]
