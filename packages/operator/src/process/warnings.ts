// SPDX-License-Identifier: Apache-2.0

import { type OperatorConfiguration, operatorEnvironment } from '@grove/api'
import { isLoopback } from '@grove/kube'

/** Settings that are valid but risky. They cause warnings, not errors, so that existing files keep working. */
export function configurationWarnings(
  configuration: OperatorConfiguration,
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const { leaderElection, server, debugging, startupWaiter } = configuration
  const warnings: string[] = []
  if (!leaderElection.enabled)
    warnings.push(
      'leaderElection.enabled is false: a second operator would act at the same time; run exactly one replica, ' +
        'also during updates (Deployment strategy Recreate), or enable leader election',
    )
  if (!server.webhooks.enabled)
    warnings.push(
      'server.webhooks.enabled is false: PodCliqueSets are neither defaulted nor validated by the operator',
    )
  if (!startupWaiter?.image && !environment[operatorEnvironment.waiterImage])
    warnings.push(
      'the startup waiter has no image, so cliques that start after others get no pods; set startupWaiter.image or ' +
        `the environment variable ${operatorEnvironment.waiterImage}`,
    )
  if (!server.metrics.secure && !isLoopback(server.metrics.bindAddress))
    warnings.push(
      `metrics are served over plain HTTP without authentication on port ${server.metrics.port}; ` +
        'set server.metrics.secure: true to serve HTTPS to authorized clients only',
    )
  if (debugging?.enableProfiling && !isLoopback(debugging.pprofBindHost))
    warnings.push(
      `debugging.pprofBindHost ${debugging.pprofBindHost} is not a loopback address: every client that reaches port ` +
        `${debugging.pprofBindPort} can profile the operator; heap snapshots are rejected there`,
    )
  return warnings
}
