// SPDX-License-Identifier: Apache-2.0

import { definitionKind } from '../../custom-resources/definition.ts'
import { builtIn } from '../built-in.ts'
import type { Resource } from '../resource.ts'
import { clusterKinds } from './cluster.ts'
import { coreKinds } from './core.ts'
import { eventKinds } from './events.ts'
import { workloadKinds } from './workloads.ts'

/** All built-in kinds that are stored. */
export function builtInResources(): Resource[] {
  return [...coreKinds, ...workloadKinds, ...clusterKinds, ...eventKinds, definitionKind].map(builtIn)
}
