// SPDX-License-Identifier: Apache-2.0

import { type OperatorConfiguration, operatorEnvironment } from '@grove/api'
import {
  type CertificateSource,
  type Client,
  type Clock,
  type Logger,
  type Manager,
  WebhookServer,
} from '@grove/kube'
import { serveAdmission } from '../admission/serve-admission.ts'
import { exitCode, LaunchError } from './exit-code.ts'

export interface WebhookOptions {
  readonly client: Client
  readonly configuration: OperatorConfiguration
  readonly namespace: string
  readonly certificates: CertificateSource
  readonly clock: Clock
  readonly log: Logger
}

export function addWebhooks(manager: Manager, options: WebhookOptions): void {
  const { configuration, certificates, clock, log } = options
  const { bindAddress, port } = configuration.server.webhooks
  const server = new WebhookServer({
    ...(bindAddress && { host: bindAddress }),
    port,
    certificates,
    clock,
    log,
    registry: manager.registry,
  })
  serveAdmission(manager, server, { ...options, ownUserNames: ownUserNames(options) })
  manager.addServer('webhooks', server)
  manager.addReadinessCheck('webhooks', () => server.check())
}

/**
 * The user names of the operator: the configured one and its service account, so that a wrong setting does not lock
 * it out.
 */
function ownUserNames({ configuration: { authorizer }, namespace }: WebhookOptions): string[] {
  if (!authorizer.enabled) return []
  const account = process.env[operatorEnvironment.serviceAccountName]
  const names = [
    authorizer.reconcilerServiceAccountUserName,
    account ? `system:serviceaccount:${namespace}:${account}` : '',
  ].filter(name => name !== '')
  if (names.length === 0)
    throw new LaunchError(
      exitCode.setUp,
      `can not register authorizer webhook with no "${operatorEnvironment.serviceAccountName}" environment variable`,
    )
  return names
}
