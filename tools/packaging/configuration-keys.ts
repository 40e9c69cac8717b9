// SPDX-License-Identifier: Apache-2.0

// Every key of the operator configuration, for docs/operations/configure.md and for the schema of the chart's values.
// A test compares the list with the defaults of @grove/api, which stay the only source of default values.
import {
  certProvisionModes,
  logFormats,
  logLevels,
  pullPolicies,
  supportedSchedulers,
  totalLossPolicies,
} from '@grove/api'

export interface ConfigurationKey {
  readonly path: string
  readonly meaning: string
  readonly type: ValueType
  /** Only these values are accepted. */
  readonly values?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  /** Absent from the defaults: the key has no default value. */
  readonly optional?: true
}

export type ValueType =
  | 'text'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'duration'
  | 'texts'
  | 'object'
  | 'profiles'

type Limits = Pick<ConfigurationKey, 'values' | 'minimum' | 'maximum' | 'optional'>

const key = (path: string, type: ValueType, meaning: string, limits: Limits = {}): ConfigurationKey => ({
  path,
  type,
  meaning,
  ...limits,
})
const port = (path: string, meaning: string, limits: Limits = {}) =>
  key(path, 'integer', meaning, { minimum: 1, maximum: 65535, ...limits })
const syncs = (name: string, kind: string) =>
  key(
    `controllers.${name}.concurrentSyncs`,
    'integer',
    `${kind} objects that are reconciled at the same time. Values below 32 count as 32.`,
    {
      minimum: 1,
    },
  )
const optional = { optional: true } as const

export const configurationKeys: readonly ConfigurationKey[] = [
  key(
    'runtimeClientConnection.qps',
    'number',
    'Requests per second to the API server. Enforced only if `qps` or `burst` differs from the defaults of operator and chart; a negative value sets no limit.',
  ),
  key('runtimeClientConnection.burst', 'integer', 'Burst of that limit.', { minimum: 0 }),
  key('runtimeClientConnection.contentType', 'text', 'Accepted for compatibility. The client sends JSON.'),
  key(
    'runtimeClientConnection.acceptContentTypes',
    'text',
    'Accepted for compatibility. The client reads JSON.',
  ),
  key(
    'leaderElection.enabled',
    'boolean',
    'One replica leads by a Lease. Required for more than one replica.',
  ),
  key('leaderElection.leaseDuration', 'duration', 'A Lease that was not renewed for this long can be taken.'),
  key(
    'leaderElection.renewDeadline',
    'duration',
    'The leader stops writing if it cannot renew for this long.',
  ),
  key('leaderElection.retryPeriod', 'duration', 'Time between two attempts.'),
  key('leaderElection.resourceLock', 'text', 'Only `leases` exists.'),
  key('leaderElection.resourceName', 'text', 'Name of the Lease.'),
  key(
    'leaderElection.resourceNamespace',
    'text',
    "Namespace of the Lease; empty is the operator's own. The chart sets the release namespace, and grants the permission in the namespace that is set.",
  ),
  key('server.webhooks.enabled', 'boolean', 'Serve the admission webhooks.'),
  key('server.webhooks.bindAddress', 'text', 'Address of the webhook server; empty is all addresses.'),
  port('server.webhooks.port', 'Port of the webhook server (HTTPS).'),
  key(
    'server.webhooks.serviceName',
    'text',
    'Service of the webhooks. Mode `auto` issues certificates for this name. The chart sets it.',
  ),
  key('server.webhooks.serverCertDir', 'text', 'Folder of `tls.crt` and `tls.key` in mode `manual`.'),
  key('server.webhooks.secretName', 'text', 'Secret that holds the certificates.'),
  key(
    'server.webhooks.certProvisionMode',
    'text',
    '`auto`: the operator creates and rotates certificates. `manual`: it reads them from `serverCertDir`.',
    { values: certProvisionModes },
  ),
  key('server.healthProbes.bindAddress', 'text', 'Address of the probes; empty is all addresses.'),
  port('server.healthProbes.port', 'Port of `/healthz` and `/readyz` (HTTP).'),
  key('server.metrics.secure', 'boolean', 'Serve metrics over HTTPS to clients that may `get` `/metrics`.'),
  key('server.metrics.bindAddress', 'text', 'Address of the metrics; empty is all addresses.'),
  port('server.metrics.port', 'Port of `/metrics`.'),
  key('debugging.enableProfiling', 'boolean', 'Serve CPU and heap profiles.', optional),
  key('debugging.pprofBindHost', 'text', 'Address of the profiles; `127.0.0.1` if not set.', optional),
  port('debugging.pprofBindPort', 'Port of the profiles; 2753 if not set.', optional),
  syncs('podCliqueSet', 'PodCliqueSet'),
  syncs('podClique', 'PodClique'),
  syncs('podCliqueScalingGroup', 'PodCliqueScalingGroup'),
  syncs('podGang', 'PodGang'),
  key('logLevel', 'text', 'Least severe level that is logged.', { values: logLevels }),
  key('logFormat', 'text', 'Format of log lines.', { values: logFormats }),
  key('authorizer.enabled', 'boolean', 'Reject changes of managed objects by other users.'),
  key('authorizer.exemptServiceAccountUserNames', 'texts', 'User names that may change managed objects.'),
  key(
    'authorizer.reconcilerServiceAccountUserName',
    'text',
    'User name of the operator; empty is that of its service account. The chart sets it.',
  ),
  key('topologyAwareScheduling.enabled', 'boolean', 'Accept topology constraints in PodCliqueSets.'),
  key(
    'placementWarnings.enabled',
    'boolean',
    'Admission warns about PodCliqueSets that can never fit on the present nodes. The operator then watches nodes.',
  ),
  key('network.autoMNNVLEnabled', 'boolean', 'Accept PodCliqueSets that use multi-node NVLink domains.'),
  key('network.clusterDomain', 'text', 'DNS domain of the Services of the cluster.'),
  key('scheduler.profiles', 'profiles', 'Enabled schedulers, each with `name` and optional `config`.', {
    values: supportedSchedulers,
  }),
  key('scheduler.defaultProfileName', 'text', 'Scheduler of pods without `schedulerName`.', {
    values: supportedSchedulers,
  }),
  key(
    'gangTermination.onTotalLoss',
    'text',
    'A gang that lost all scheduled pods: `Wait` for capacity, or `Recreate` it after the termination delay.',
    { values: totalLossPolicies },
  ),
  key(
    'resourceSharing.allowedTemplateNamespaces',
    'texts',
    'Namespaces whose ResourceClaimTemplates other namespaces may use; `*` is every namespace.',
  ),
  key('revisionHistory.limit', 'integer', 'Revisions of a PodCliqueSet that are kept.', { minimum: 0 }),
  key('limits.podCliqueSetReplicas', 'integer', 'Largest `spec.replicas` of a PodCliqueSet.', { minimum: 1 }),
  key('limits.scalingGroupReplicas', 'integer', 'Largest `spec.replicas` of a PodCliqueScalingGroup.', {
    minimum: 1,
  }),
  key('limits.podCliqueReplicas', 'integer', 'Largest `spec.replicas` of a PodClique.', { minimum: 1 }),
  key(
    'limits.podsPerPodCliqueSet',
    'integer',
    'Most pods of a PodCliqueSet or of one of its scaling groups.',
    {
      minimum: 1,
    },
  ),
  key(
    'startupWaiter.image',
    'text',
    "Image of the start-up waiter with its tag; empty is `GROVE_INIT_CONTAINER_IMAGE` with the operator's version.",
  ),
  key(
    'startupWaiter.imagePullPolicy',
    'text',
    'Pull policy of that image; empty is the default of Kubernetes.',
    {
      values: pullPolicies,
    },
  ),
  key('startupWaiter.imagePullSecrets', 'texts', 'Pull secrets of pods with a waiter, by name.'),
  key('startupWaiter.resources', 'object', 'Requests and limits of the waiter.', optional),
]
