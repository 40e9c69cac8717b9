// SPDX-License-Identifier: Apache-2.0

import type { OperatorConfiguration } from '@grove/api'
import type { Client } from '@grove/kube'
import { servedResources } from '../caches/optional-kinds.ts'
import { resources } from '../caches/resources.ts'
import { exitCode, LaunchError } from './exit-code.ts'

/**
 * With the feature enabled, the cluster must serve the driver's kind: otherwise a set that uses it would wait for ever.
 */
export async function checkMnnvl(client: Client, { network }: OperatorConfiguration): Promise<void> {
  if (!network.autoMNNVLEnabled) return
  const isServed = await servedResources(client)
  if (!isServed(resources.computeDomains))
    throw new LaunchError(
      exitCode.mnnvl,
      'MNNVL preflight check failed: MNNVL is enabled but ComputeDomain CRD (computedomains.resource.nvidia.com) is not installed. Please install the NVIDIA DRA driver or disable MNNVL in the operator configuration',
    )
}
