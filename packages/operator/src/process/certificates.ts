// SPDX-License-Identifier: Apache-2.0

// The serving certificate of the operator in both modes, and the check whether API servers trust it.
import { join } from 'node:path'
import { type OperatorConfiguration, operatorName } from '@grove/api'
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
  type Registry,
  secretStore,
  WebhookTrust,
  watchSecret,
} from '@grove/kube'
import { configurationNames } from '../admission/webhook-configurations.ts'

/** No label "managed by grove-operator": the protection of managed objects would block the first certificate. */
const secretLabels = { 'app.kubernetes.io/component': 'webhook', 'app.kubernetes.io/part-of': 'grove' }

export interface CertificateOptions {
  readonly client: Client
  readonly configuration: OperatorConfiguration
  readonly namespace: string
  readonly clock: Clock
  readonly log: Logger
  readonly registry: Registry
}

export interface ServedCertificates {
  readonly source: CertificateSource
  /** Adds the controllers that renew the certificate, and the readiness check. */
  addTo(manager: Manager): void
}

/** Watches the webhook configurations in both modes: the process is not ready while API servers do not trust it. */
export function servedCertificates(options: CertificateOptions): ServedCertificates {
  const { client, configuration, clock, log } = options
  const targets = webhookTargets(configuration)
  const mode = configuration.server.webhooks.certProvisionMode
  const { source, changed, parts } = mode === 'manual' ? fromFiles(options) : fromSecret(options, targets)
  const trust = new WebhookTrust({ client, targets, served: source, clock, log })
  trust.onChange(changed)
  return {
    source,
    addTo: manager => {
      for (const [name, part] of Object.entries(parts)) manager.addBackground(name, part)
      manager.addBackground('webhook configurations', trust)
      manager.addReadinessCheck('certificates', () => {
        const problem = trust.problem()
        if (problem) throw new Error(problem)
      })
    },
  }
}

interface Provision {
  readonly source: CertificateSource
  /** Called when a webhook configuration changed. */
  readonly changed: () => void
  readonly parts: Readonly<Record<string, { run(signal: AbortSignal): Promise<void> }>>
}

function fromFiles({ configuration, clock, log, registry }: CertificateOptions): Provision {
  const { serverCertDir } = configuration.server.webhooks
  const files = new FileCertificateSource({
    certFile: join(serverCertDir, 'tls.crt'),
    keyFile: join(serverCertDir, 'tls.key'),
    clock,
    log,
    registry,
  })
  return { source: files, changed: () => {}, parts: { 'certificate files': files } }
}

function fromSecret(
  { client, configuration, namespace, clock, log }: CertificateOptions,
  targets: readonly InjectionTarget[],
): Provision {
  const { secretName, serviceName } = configuration.server.webhooks
  const secret = { namespace, name: secretName, labels: secretLabels }
  const provisioner = new CertificateProvisioner({
    store: secretStore(client, secret),
    injection: injectionStore(client),
    targets,
    policy: certificatePolicy({
      authorityName: 'Grove-CA',
      organization: 'Grove',
      // The usual Service is always included. Otherwise replicas with the former configuration would replace the
      // certificate while the Service is renamed.
      serverNames: [...new Set([serviceName, operatorName])].flatMap(name => serviceNames(name, namespace)),
    }),
    clock,
    log,
  })
  const changed = () => provisioner.changed()
  const watch = watchSecret(client, secret, { clock, log }, changed)
  return {
    source: provisioner.source,
    changed,
    parts: { certificates: provisioner, 'certificate Secret': watch },
  }
}

/** The names of a Service. API servers verify the first. */
function serviceNames(service: string, namespace: string): string[] {
  return [
    `${service}.${namespace}.svc`,
    service,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc.cluster.local`,
  ]
}

function webhookTargets({ authorizer, server }: OperatorConfiguration): InjectionTarget[] {
  if (!server.webhooks.enabled) return []
  return [
    { kind: 'mutating', name: configurationNames.defaulting },
    { kind: 'validating', name: configurationNames.validating },
    { kind: 'validating', name: configurationNames.topology },
    ...(authorizer.enabled ? [{ kind: 'validating' as const, name: configurationNames.authorizer }] : []),
  ]
}
