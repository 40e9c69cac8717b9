// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OperatorConfiguration } from '@grove/api'
import { messageOf, serviceAccountDirectory } from '@grove/kube'
import { exitCode, LaunchError } from './exit-code.ts'

/**
 * Environment variable with the operator's namespace, for use outside of a cluster, where no service account file
 * exists.
 */
const namespaceVariable = 'GROVE_OPERATOR_NAMESPACE'

/**
 * The namespace of the operator: that of its service account, else that of the environment, else that of the lease in
 * the configuration. Throws instead of guessing: two operators with leases in different namespaces would both lead.
 */
export function ownNamespace(configuration: OperatorConfiguration, folder = serviceAccountDirectory): string {
  const fromFile = readNamespaceFile(folder)
  if (fromFile === '') throw new LaunchError(exitCode.setUp, 'operator namespace is empty')
  const namespace =
    fromFile || process.env[namespaceVariable] || configuration.leaderElection.resourceNamespace
  const needs = needsOf(configuration)
  if (namespace || needs.length === 0) return namespace
  throw new LaunchError(
    exitCode.setUp,
    `the operator runs outside of a cluster and has no namespace for ${needs.join(' and ')}: ` +
      `set the environment variable ${namespaceVariable}, or leaderElection.resourceNamespace in its configuration`,
  )
}

/** The objects in the namespace of the operator, and the values derived from it. */
function needsOf({ leaderElection, server, authorizer }: OperatorConfiguration): string[] {
  const certificates = server.webhooks.enabled || server.metrics.secure
  return [
    ...(leaderElection.enabled ? ['its Lease'] : []),
    ...(certificates && server.webhooks.certProvisionMode === 'auto' ? ['its certificate Secret'] : []),
    ...(authorizer.enabled && !authorizer.reconcilerServiceAccountUserName ? ['its user name'] : []),
  ]
}

function readNamespaceFile(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, 'namespace'), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new LaunchError(exitCode.setUp, `operator namespace cannot be read: ${messageOf(error)}`)
  }
}
