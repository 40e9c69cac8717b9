// SPDX-License-Identifier: Apache-2.0

import type { ResourceRequirements } from '../kubernetes/index.ts'

export const configurationApiVersion = 'operator.config.grove.io/v1alpha1'
export const configurationKind = 'OperatorConfiguration'

/** The configuration of the operator, complete: every default is filled in. Durations are milliseconds. */
export interface OperatorConfiguration {
  readonly runtimeClientConnection: ClientConnectionConfiguration
  readonly leaderElection: LeaderElectionConfiguration
  readonly server: ServerConfiguration
  /** Absent: no profiling. */
  readonly debugging?: DebuggingConfiguration
  readonly controllers: ControllersConfiguration
  readonly logLevel: LogLevel
  readonly logFormat: LogFormat
  readonly authorizer: AuthorizerConfiguration
  readonly topologyAwareScheduling: { readonly enabled: boolean }
  readonly network: NetworkConfiguration
  readonly scheduler: SchedulerConfiguration
  readonly gangTermination: GangTerminationConfiguration
  readonly resourceSharing: ResourceSharingConfiguration
  readonly revisionHistory: RevisionHistoryConfiguration
  readonly limits: LimitsConfiguration
  readonly startupWaiter: StartupWaiterConfiguration
}

export const logLevels = ['debug', 'info', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

export const logFormats = ['json', 'text'] as const
export type LogFormat = (typeof logFormats)[number]

export interface ClientConnectionConfiguration {
  /** Requests per second towards the API server. */
  readonly qps: number
  readonly burst: number
  /** Both, when the file asks for another rate than the default; only then are they enforced. */
  readonly rateLimit?: { readonly qps: number; readonly burst: number }
  readonly contentType: string
  readonly acceptContentTypes: string
}

export interface LeaderElectionConfiguration {
  readonly enabled: boolean
  readonly leaseDuration: number
  readonly renewDeadline: number
  readonly retryPeriod: number
  readonly resourceLock: string
  readonly resourceName: string
  /** Empty: the operator's own namespace. */
  readonly resourceNamespace: string
}

export interface Endpoint {
  /** Empty: all addresses. */
  readonly bindAddress: string
  readonly port: number
}

export const certProvisionModes = ['auto', 'manual'] as const
export type CertProvisionMode = (typeof certProvisionModes)[number]

export interface WebhookServerConfiguration extends Endpoint {
  /** False: no webhooks are served, and sets are neither defaulted nor validated by the operator. */
  readonly enabled: boolean
  readonly serverCertDir: string
  readonly secretName: string
  /** `auto`: certificates are made and renewed by the operator; `manual`: somebody else provides them. */
  readonly certProvisionMode: CertProvisionMode
}

export interface MetricsServerConfiguration extends Endpoint {
  /** HTTPS with the certificate of the webhooks, for clients that may `get` the path /metrics. Else plain HTTP. */
  readonly secure: boolean
}

export interface ServerConfiguration {
  readonly webhooks: WebhookServerConfiguration
  readonly healthProbes: Endpoint
  readonly metrics: MetricsServerConfiguration
}

export interface DebuggingConfiguration {
  readonly enableProfiling: boolean
  readonly pprofBindHost: string
  readonly pprofBindPort: number
}

export interface ControllerConfiguration {
  /** How many objects are reconciled at the same time. */
  readonly concurrentSyncs: number
}

export interface ControllersConfiguration {
  readonly podCliqueSet: ControllerConfiguration
  readonly podCliqueScalingGroup: ControllerConfiguration
  readonly podClique: ControllerConfiguration
  readonly podGang: ControllerConfiguration
}

export interface AuthorizerConfiguration {
  readonly enabled: boolean
  /** Compared literally with the name of the requesting user. */
  readonly exemptServiceAccountUserNames: readonly string[]
  /** The operator's own user; empty: derived from its service account. */
  readonly reconcilerServiceAccountUserName: string
}

export interface SchedulerProfile {
  /** Also what stands in `schedulerName` of pods. */
  readonly name: string
  /** Options of the backend, not interpreted here. */
  readonly config?: Readonly<Record<string, unknown>>
}

export interface SchedulerConfiguration {
  readonly profiles: readonly SchedulerProfile[]
  readonly defaultProfileName: string
}

export const totalLossPolicies = ['Wait', 'Recreate'] as const
/** What happens to a gang that lost all of its scheduled pods: wait for a place, or terminate it like any breach. */
export type TotalLossPolicy = (typeof totalLossPolicies)[number]

export interface GangTerminationConfiguration {
  readonly onTotalLoss: TotalLossPolicy
}

export interface ResourceSharingConfiguration {
  /** Namespaces whose claim templates may be used from others. The default is `*`, every namespace; `[]` closes all. */
  readonly allowedTemplateNamespaces: readonly string[]
}

export interface RevisionHistoryConfiguration {
  /** How many revisions of a set are kept; those in use are kept beyond it. */
  readonly limit: number
}

/**
 * Ceilings of replica counts. A count above its ceiling is reported and not acted upon: what exists stays as it is. The
 * scale subresource passes no webhook, so admission alone cannot enforce them.
 */
export interface LimitsConfiguration {
  /** `spec.replicas` of a PodCliqueSet. */
  readonly podCliqueSetReplicas: number
  /** `spec.replicas` of a PodCliqueScalingGroup. */
  readonly scalingGroupReplicas: number
  /** `spec.replicas` of a PodClique. */
  readonly podCliqueReplicas: number
  /** Pods that a PodCliqueSet asks for by its templates, or that one of its scaling groups asks for. */
  readonly podsPerPodCliqueSet: number
}

export interface NetworkConfiguration {
  /** Whether new sets may use multi-node NVLink domains. */
  readonly autoMNNVLEnabled: boolean
  /** The DNS domain of the cluster's Services. */
  readonly clusterDomain: string
}

export const pullPolicies = ['', 'Always', 'IfNotPresent', 'Never'] as const

/** The init container of pods that start after others. */
export interface StartupWaiterConfiguration {
  /** Complete, with its tag; empty: the image of the operator's environment, with the operator's version. */
  readonly image: string
  /** Empty: as Kubernetes chooses. */
  readonly imagePullPolicy: (typeof pullPolicies)[number]
  /** Secrets by name, in the namespace of the pod, that pods with a waiter get beside their own. */
  readonly imagePullSecrets: readonly string[]
  /** Absent: limits where every container of the pod has them, so that the pod keeps its quality of service. */
  readonly resources?: ResourceRequirements
}
