// SPDX-License-Identifier: Apache-2.0

import { waiter } from '@grove/api'
import type { KubeletOptions } from '@grove/cluster'
import type { Transport } from '@grove/kube'
import { runWaiter } from '@grove/waiter'

/**
 * Runs the real startup waiter for its init container in this process, so that the startup order is enforced, not
 * simulated.
 */
export function startupWaiter(transport: Transport): NonNullable<KubeletOptions['runInitContainer']> {
  return (pod, container, { signal, log }) => {
    if (container.name !== waiter.containerName) return undefined
    return runWaiter({
      args: container.args ?? [],
      namespace: pod.metadata.namespace ?? 'default',
      transport,
      signal,
      log,
    }).then(exitCode => ({ exitCode }))
  }
}
