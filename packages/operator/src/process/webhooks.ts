// SPDX-License-Identifier: Apache-2.0

// The webhook server and its certificates, in both modes.
import { join } from 'node:path'
import { type OperatorConfiguration, operatorEnvironment, operatorName } from '@grove/api'
import {
  CertificateProvisioner,
  type CertificateSource,
  type Client,
  type Clock,
  certificatePolicy,
  FileCertificateSource,
  type InjectionTarget,
  injectionStore,
  type Logger,
  type Manager,
  secretStore,
  WebhookServer,
} from '@grove/kube'
import {
  authorizerHandler,
  defaultingHandler,
  topologyHandler,
  validatingHandler,
  webhookPaths,
} from '../admission/handlers.ts'
import { exitCode, LaunchError } from './exit-code.ts'

/** No label that says "managed by grove-operator": its protection would stand in the way of the first certificate. */
const secretLabels = { 'app.kubernetes.io/component': 'webhook', 'app.kubernetes.io/part-of': 'grove' }

export interface WebhookOptions {
  readonly client: Client
  readonly configuration: OperatorConfiguration
  readonly namespace: string
  readonly clock: Clock
  readonly log: Logger
}

export function addWebhooks(manager: Manager, options: WebhookOptions): WebhookServer {
  const { configuration, clock, log } = options
  const { bindAddress, port } = configuration.server.webhooks
  const certificates = addCertificates(manager, options)
  const server = new WebhookServer({
    ...(bindAddress && { host: bindAddress }),
    port,
    certificates,
    clock,
    log,
    registry: manager.registry,
  })
  server.handle(webhookPaths.defaultPodCliqueSet, defaultingHandler())
  server.handle(webhookPaths.validatePodCliqueSet, validatingHandler(options))
  server.handle(webhookPaths.validateClusterTopology, topologyHandler(options))
  if (configuration.authorizer.enabled)
    server.handle(webhookPaths.authorizer, authorizerHandler(options, ownUserName(options.namespace)))
  manager.addServer('webhooks', server)
  manager.addReadinessCheck('webhooks', () => server.check())
  return server
}

function addCertificates(manager: Manager, options: WebhookOptions): CertificateSource {
  const { configuration, client, namespace, clock, log } = options
  const { certProvisionMode, serverCertDir, secretName } = configuration.server.webhooks
  if (certProvisionMode === 'manual') {
    const files = new FileCertificateSource({
      certFile: join(serverCertDir, 'tls.crt'),
      keyFile: join(serverCertDir, 'tls.key'),
      clock,
      log,
      registry: manager.registry,
    })
    manager.addBackground('certificate files', files)
    return files
  }
  const provisioner = new CertificateProvisioner({
    store: secretStore(client, { namespace, name: secretName, labels: secretLabels }),
    injection: injectionStore(client),
    targets: injectionTargets(configuration),
    policy: certificatePolicy({
      authorityName: 'Grove-CA',
      organization: 'Grove',
      serverNames: [
        `${operatorName}.${namespace}.svc`,
        operatorName,
        `${operatorName}.${namespace}`,
        `${operatorName}.${namespace}.svc.cluster.local`,
      ],
    }),
    clock,
    log,
  })
  manager.addBackground('certificates', provisioner)
  manager.addReadinessCheck('certificates', () => {
    if (!provisioner.ready) throw new Error('certificates are not ready yet')
  })
  return provisioner.source
}

function injectionTargets({ authorizer }: OperatorConfiguration): InjectionTarget[] {
  return [
    { kind: 'mutating', name: 'podcliqueset-defaulting-webhook' },
    { kind: 'validating', name: 'podcliqueset-validating-webhook' },
    { kind: 'validating', name: 'clustertopology-validating-webhook' },
    ...(authorizer.enabled ? [{ kind: 'validating' as const, name: 'authorizer-webhook' }] : []),
  ]
}

function ownUserName(namespace: string): string {
  const name = process.env[operatorEnvironment.serviceAccountName]
  if (!name)
    throw new LaunchError(
      exitCode.setUp,
      `can not register authorizer webhook with no "${operatorEnvironment.serviceAccountName}" environment variable`,
    )
  return `system:serviceaccount:${namespace}:${name}`
}
