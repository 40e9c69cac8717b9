// SPDX-License-Identifier: Apache-2.0

import type { ResourceRequirements } from '../kubernetes/index.ts'
import { operatorName } from '../names.ts'
import { scheduler } from '../schedulers.ts'
import type {
  CertProvisionMode,
  Endpoint,
  LogFormat,
  LogLevel,
  OperatorConfiguration,
  SchedulerConfiguration,
  StartupWaiterConfiguration,
  TotalLossPolicy,
} from './operator-configuration.ts'
import type { Section } from './section.ts'

const seconds = 1000

/**
 * Reads the configuration and sets every default. Enumerated values (log level, certificate mode, …) are not checked
 * here. `validateConfiguration` checks them, so that all mistakes are reported together.
 */
export function readConfiguration(root: Section): OperatorConfiguration {
  const debugging = root.section('debugging')
  const configuration: OperatorConfiguration = {
    runtimeClientConnection: readClientConnection(root.section('runtimeClientConnection')),
    leaderElection: readLeaderElection(root.section('leaderElection')),
    server: readServer(root.section('server')),
    ...(debugging.isPresent && { debugging: readDebugging(debugging) }),
    controllers: readControllers(root.section('controllers')),
    logLevel: root.choice('logLevel', 'info') as LogLevel,
    logFormat: root.choice('logFormat', 'json') as LogFormat,
    authorizer: readAuthorizer(root.section('authorizer')),
    topologyAwareScheduling: readSwitch(root.section('topologyAwareScheduling')),
    placementWarnings: readSwitch(root.section('placementWarnings')),
    network: readNetwork(root.section('network')),
    scheduler: readScheduler(root.section('scheduler')),
    gangTermination: readGangTermination(root.section('gangTermination')),
    resourceSharing: readResourceSharing(root.section('resourceSharing')),
    revisionHistory: readRevisionHistory(root.section('revisionHistory')),
    limits: readLimits(root.section('limits')),
    startupWaiter: readStartupWaiter(root.section('startupWaiter')),
  }
  root.close()
  return configuration
}

function closing<T>(section: Section, value: T): T {
  section.close()
  return value
}

/** Defaults of the operator and of its chart. */
const defaultBursts: readonly number[] = [120, 150]

function readClientConnection(section: Section): OperatorConfiguration['runtimeClientConnection'] {
  const limit = { qps: section.number('qps', 0) || 100, burst: section.integer('burst', 0) || 120 }
  // As in other Kubernetes components, a negative rate disables the limit. The defaults disable it too: charts write
  // them into every file, so they do not show an intention.
  const isDefault = limit.qps === 100 && defaultBursts.includes(limit.burst)
  const isLimited = limit.qps > 0 && !isDefault
  return closing(section, {
    ...limit,
    ...(isLimited && { rateLimit: limit }),
    contentType: section.text('contentType', ''),
    acceptContentTypes: section.text('acceptContentTypes', ''),
  })
}

function readLeaderElection(section: Section): OperatorConfiguration['leaderElection'] {
  return closing(section, {
    enabled: section.boolean('enabled'),
    leaseDuration: section.duration('leaseDuration', 15 * seconds),
    renewDeadline: section.duration('renewDeadline', 10 * seconds),
    retryPeriod: section.duration('retryPeriod', 2 * seconds),
    resourceLock: section.text('resourceLock', 'leases'),
    resourceName: section.text('resourceName', 'grove-operator-leader-election'),
    resourceNamespace: section.text('resourceNamespace', ''),
  })
}

function readServer(section: Section): OperatorConfiguration['server'] {
  const webhooks = section.section('webhooks')
  return closing(section, {
    webhooks: closing(webhooks, {
      enabled: webhooks.boolean('enabled', true),
      bindAddress: webhooks.text('bindAddress', ''),
      port: webhooks.integer('port', 2750),
      serviceName: webhooks.text('serviceName', operatorName),
      serverCertDir: webhooks.text('serverCertDir', '/etc/grove-operator/webhook-certs'),
      secretName: webhooks.text('secretName', 'grove-webhook-server-cert'),
      certProvisionMode: webhooks.text('certProvisionMode', 'auto') as CertProvisionMode,
    }),
    healthProbes: readEndpoint(section.section('healthProbes'), 2751),
    metrics: readMetrics(section.section('metrics')),
  })
}

function readMetrics(section: Section): OperatorConfiguration['server']['metrics'] {
  return { secure: section.boolean('secure'), ...readEndpoint(section, 2752) }
}

function readEndpoint(section: Section, port: number): Endpoint {
  return closing(section, {
    bindAddress: section.text('bindAddress', ''),
    port: section.integer('port', port),
  })
}

function readDebugging(section: Section): NonNullable<OperatorConfiguration['debugging']> {
  return closing(section, {
    enableProfiling: section.boolean('enableProfiling'),
    pprofBindHost: section.text('pprofBindHost', '127.0.0.1'),
    pprofBindPort: section.integer('pprofBindPort', 2753),
  })
}

function readControllers(section: Section): OperatorConfiguration['controllers'] {
  const controller = (name: string, syncs: number): { concurrentSyncs: number } => {
    const child = section.section(name)
    // Keep a zero, so that validation rejects it: "never reconcile" is not a valid setting.
    return closing(child, { concurrentSyncs: child.integer('concurrentSyncs', syncs, true) })
  }
  return closing(section, {
    podCliqueSet: controller('podCliqueSet', 10),
    podClique: controller('podClique', 10),
    podCliqueScalingGroup: controller('podCliqueScalingGroup', 5),
    podGang: controller('podGang', 5),
  })
}

function readAuthorizer(section: Section): OperatorConfiguration['authorizer'] {
  return closing(section, {
    enabled: section.boolean('enabled'),
    exemptServiceAccountUserNames: section.texts('exemptServiceAccountUserNames'),
    reconcilerServiceAccountUserName: section.text('reconcilerServiceAccountUserName', ''),
  })
}

function readSwitch(section: Section): { enabled: boolean } {
  return closing(section, { enabled: section.boolean('enabled') })
}

function readNetwork(section: Section): OperatorConfiguration['network'] {
  return closing(section, {
    autoMNNVLEnabled: section.boolean('autoMNNVLEnabled'),
    clusterDomain: section.text('clusterDomain', 'cluster.local'),
  })
}

/** default-scheduler is always enabled. Without profiles it is also the default, whatever `defaultProfileName` says. */
function readScheduler(section: Section): SchedulerConfiguration {
  const profiles = section.sections('profiles').map(profile => {
    const config = profile.freeObject('config')
    return closing(profile, { name: profile.text('name', ''), ...(config && { config }) })
  })
  const defaultProfileName = section.text('defaultProfileName', scheduler.default)
  section.close()
  const plain = { name: scheduler.default }
  if (profiles.length === 0) return { profiles: [plain], defaultProfileName: scheduler.default }
  const isListed = profiles.some(profile => profile.name === scheduler.default)
  return { profiles: isListed ? profiles : [...profiles, plain], defaultProfileName }
}

function readGangTermination(section: Section): OperatorConfiguration['gangTermination'] {
  return closing(section, { onTotalLoss: section.choice('onTotalLoss', 'Wait') as TotalLossPolicy })
}

function readResourceSharing(section: Section): OperatorConfiguration['resourceSharing'] {
  return closing(section, { allowedTemplateNamespaces: section.texts('allowedTemplateNamespaces', ['*']) })
}

function readRevisionHistory(section: Section): OperatorConfiguration['revisionHistory'] {
  return closing(section, { limit: section.integer('limit', 10) })
}

/** The last limit is the number of pods that Kubernetes supports in a cluster. */
function readLimits(section: Section): OperatorConfiguration['limits'] {
  return closing(section, {
    podCliqueSetReplicas: section.integer('podCliqueSetReplicas', 10_000),
    scalingGroupReplicas: section.integer('scalingGroupReplicas', 10_000),
    podCliqueReplicas: section.integer('podCliqueReplicas', 10_000),
    podsPerPodCliqueSet: section.integer('podsPerPodCliqueSet', 150_000),
  })
}

function readStartupWaiter(section: Section): StartupWaiterConfiguration {
  const resources = section.freeObject('resources')
  return closing(section, {
    image: section.text('image', ''),
    imagePullPolicy: section.choice('imagePullPolicy', '') as StartupWaiterConfiguration['imagePullPolicy'],
    imagePullSecrets: section.texts('imagePullSecrets'),
    ...(resources && { resources: resources as ResourceRequirements }),
  })
}
