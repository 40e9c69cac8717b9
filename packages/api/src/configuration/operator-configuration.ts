// SPDX-License-Identifier: Apache-2.0

import type { ResourceRequirements } from '../kubernetes/index.ts'

export const configurationApiVersion = 'operator.config.grove.io/v1alpha1'
export const configurationKind = 'OperatorConfiguration'

/** The operator configuration with every default set. Durations are in milliseconds. */
export interface OperatorConfiguration {
  readonly runtimeClientConnection: ClientConnectionConfiguration
  readonly leaderElection: LeaderElectionConfiguration
  readonly server: ServerConfiguration
  /** Absent: profiling is disabled. */
  readonly debugging?: DebuggingConfiguration
  readonly controllers: ControllersConfiguration
  readonly logLevel: LogLevel
  readonly logFormat: LogFormat
  readonly authorizer: AuthorizerConfiguration
  readonly topologyAwareScheduling: { readonly enabled: boolean }
  /** Admission warns about sets that can never fit on the present nodes. */
  readonly placementWarnings: { readonly enabled: boolean }
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
  /** Requests per second to the API server. */
  readonly qps: number
  readonly burst: number
  /** Set if the file sets another rate than the default. Only then the operator enforces it. */
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
  /** False: the operator serves no webhooks, and neither defaults nor validates sets. */
  readonly enabled: boolean
  /** The Service of the webhooks. Mode `auto` issues certificates for this name. */
  readonly serviceName: string
  readonly serverCertDir: string
  readonly secretName: string
  /** `auto`: the operator issues and renews certificates. `manual`: the administrator provides them. */
  readonly certProvisionMode: CertProvisionMode
}

export interface MetricsServerConfiguration extends Endpoint {
  /** Serves HTTPS with the webhook certificate, for clients that may `get` the path /metrics. Otherwise plain HTTP. */
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
  /** Number of objects that are reconciled concurrently. */
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
  /** The operator's own user. Empty: derived from its service account. */
  readonly reconcilerServiceAccountUserName: string
}

export interface SchedulerProfile {
  /** Also the `schedulerName` of pods. */
  readonly name: string
  /** Options of the backend, not interpreted here. */
  readonly config?: Readonly<Record<string, unknown>>
}

export interface SchedulerConfiguration {
  readonly profiles: readonly SchedulerProfile[]
  readonly defaultProfileName: string
}

export const totalLossPolicies = ['Wait', 'Recreate'] as const
/**
 * Policy for a gang that lost all of its scheduled pods: wait until they fit again, or terminate it like any breach.
 */
export type TotalLossPolicy = (typeof totalLossPolicies)[number]

export interface GangTerminationConfiguration {
  readonly onTotalLoss: TotalLossPolicy
}

export interface ResourceSharingConfiguration {
  /**
   * Namespaces whose claim templates other namespaces may use. The default `*` allows every namespace. `[]` allows
   * none.
   */
  readonly allowedTemplateNamespaces: readonly string[]
}

export interface RevisionHistoryConfiguration {
  /** Number of revisions kept per set, in addition to those in use. */
  readonly limit: number
}

/**
 * Limits of replica counts. The operator reports a count above its limit and does not apply it: existing objects stay.
 * Webhooks do not see the scale subresource, so admission alone cannot enforce the limits.
 */
export interface LimitsConfiguration {
  /** `spec.replicas` of a PodCliqueSet. */
  readonly podCliqueSetReplicas: number
  /** `spec.replicas` of a PodCliqueScalingGroup. */
  readonly scalingGroupReplicas: number
  /** `spec.replicas` of a PodClique. */
  readonly podCliqueReplicas: number
  /** Pods that the templates of a PodCliqueSet request, or that one of its scaling groups requests. */
  readonly podsPerPodCliqueSet: number
}

export interface NetworkConfiguration {
  /** Allows new sets to use multi-node NVLink domains. */
  readonly autoMNNVLEnabled: boolean
  /** The DNS domain of the cluster's Services. */
  readonly clusterDomain: string
}

export const pullPolicies = ['', 'Always', 'IfNotPresent', 'Never'] as const

/** The init container of pods that start after other cliques. */
export interface StartupWaiterConfiguration {
  /** With its tag. Empty: the image from the operator's environment, with the operator's version. */
  readonly image: string
  /** Empty: the default of Kubernetes. */
  readonly imagePullPolicy: (typeof pullPolicies)[number]
  /** Secret names, in the namespace of the pod. Pods with a waiter get them in addition to their own. */
  readonly imagePullSecrets: readonly string[]
  /** Absent: the waiter gets limits if every container of the pod has them, so that the pod keeps its QoS class. */
  readonly resources?: ResourceRequirements
}
