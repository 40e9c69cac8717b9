// SPDX-License-Identifier: Apache-2.0

// Reads everything that `grove doctor` evaluates. It writes nothing: the two PodCliqueSets are dry runs.
import {
  type ClusterRole,
  type ClusterTopologyBinding,
  type CustomResourceDefinition,
  customResourceDefinitions,
  defaultConfiguration,
  loadConfiguration,
  type OperatorConfiguration,
  type Pod,
  type PodCliqueSet,
  scheduler,
} from '@grove/api'
import { renderFieldErrors } from '@grove/apimachinery'
import {
  type Client,
  defineResource,
  isNotFound,
  type KubeObject,
  messageOf,
  type Outcome,
  outcome,
  type Stored,
  type WebhookConfiguration,
} from '@grove/kube'
import { nativeGangKinds, operatorClusterRole, resources, webhookConfigurations } from '@grove/operator'
import { parse } from 'yaml'
import type { LiveCluster } from '../clusters/live-cluster.ts'

export interface OperatorLease {
  readonly holder: string
  readonly durationSeconds: number
  /** By the clock of the operator. */
  readonly renewedAt: number
  /** The time of the same write by the clock of the API server. */
  readonly writtenAt: number | undefined
}

export interface SharedNode {
  readonly node: string
  readonly resource: string
  /** Without grove-scheduler, sorted. */
  readonly others: readonly string[]
}

export interface Observations {
  readonly server: string
  /** The operator runs inside `grove up` on this machine: there is no Deployment, Lease or webhook. */
  readonly isLocal: boolean
  readonly version: Outcome<string>
  readonly crds: ReadonlyMap<string, Outcome<CustomResourceDefinition | undefined>>
  readonly operatorNamespace: string
  readonly configuration: OperatorConfiguration
  /** The source of the configuration. Without a Deployment it is the default configuration. */
  readonly configurationOf: 'Deployment' | 'defaults'
  /** A configuration that cannot be loaded. */
  readonly configurationProblem: string | undefined
  readonly deployment: Outcome<{ readonly wanted: number; readonly ready: number } | undefined>
  readonly lease: Outcome<OperatorLease | undefined>
  readonly clusterRole: Outcome<{ readonly stored: ClusterRole | undefined; readonly wanted: ClusterRole }>
  readonly webhooks: ReadonlyMap<string, Outcome<WebhookConfiguration | undefined>>
  /** A set that admission must complete with defaults. */
  readonly valid: Outcome<PodCliqueSet>
  /** A set that admission must reject. */
  readonly invalid: Outcome<PodCliqueSet>
  /** Scheduler profiles whose API or process is missing, with the reason. */
  readonly schedulers: ReadonlyMap<string, Outcome<string | undefined>>
  readonly bindings: Outcome<readonly ClusterTopologyBinding[]>
  readonly nodes: Outcome<
    readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[]
  >
  /** Nodes on which grove-scheduler and another scheduler bind pods that request the same extended resource. */
  readonly sharedNodes: Outcome<readonly SharedNode[]>
  /** The time of the API server, and the local time at that moment. */
  readonly serverTime: Outcome<{ readonly server: number; readonly local: number }>
  /** The local time after all requests, in milliseconds since the epoch. */
  readonly observedAt: number
}

const definitions = defineResource<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})
const clusterRoles = defineResource<ClusterRole>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
})
const configMaps = defineResource<KubeObject & { readonly data?: Readonly<Record<string, string>> }>({
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
})
interface Deployment extends KubeObject {
  readonly spec?: {
    readonly replicas?: number
    readonly template?: {
      readonly spec?: {
        readonly volumes?: readonly {
          readonly name: string
          readonly configMap?: { readonly name?: string }
        }[]
      }
    }
  }
  readonly status?: { readonly readyReplicas?: number }
}
const deployments = defineResource<Deployment>({
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  kind: 'Deployment',
  namespaced: true,
})
const configurationsOf = (kind: 'Mutating' | 'Validating') =>
  defineResource<WebhookConfiguration>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    resource: `${kind.toLowerCase()}webhookconfigurations`,
    kind: `${kind}WebhookConfiguration`,
    namespaced: false,
  })
const webhookResources = {
  MutatingWebhookConfiguration: configurationsOf('Mutating'),
  ValidatingWebhookConfiguration: configurationsOf('Validating'),
}

const operatorName = 'grove-operator'
const schedulerLease = 'grove-scheduler-leader-election'

export interface ObserveOptions {
  readonly operatorNamespace: string
  readonly isLocal: boolean
}

export async function observe(
  { client, namespace, server }: LiveCluster,
  { operatorNamespace, isLocal }: ObserveOptions,
): Promise<Observations> {
  const version = await outcome(client.raw({ verb: 'get', method: 'GET', path: '/version' }).then(gitVersion))
  const found = await configurationFor(client, operatorNamespace)
  const { configuration } = found
  const leases = configuration.leaderElection.resourceNamespace || operatorNamespace
  const role = operatorClusterRole(configuration)
  const hooks = webhookConfigurations({ namespace: operatorNamespace, port: 0 }, configuration)
  const [
    crds,
    lease,
    clusterRole,
    webhooks,
    valid,
    invalid,
    schedulers,
    bindings,
    nodes,
    sharedNodes,
    serverTime,
  ] = await Promise.all([
    readAll(
      customResourceDefinitions.map(({ metadata: { name = '' } }) => [
        name,
        client.find(definitions, { name }),
      ]),
    ),
    outcome(readLease(client, leases, configuration.leaderElection.resourceName)),
    outcome(
      client
        .find(clusterRoles, { name: role.metadata.name ?? '' })
        .then(stored => ({ stored, wanted: role })),
    ),
    readAll(
      hooks.map(({ kind, metadata: { name = '' } }) => [
        `${kind} ${name}`,
        client.find<WebhookConfiguration>(webhookResources[kind], { name }),
      ]),
    ),
    outcome(dryRun(client, namespace, 1)),
    outcome(dryRun(client, namespace, 3)),
    schedulerProblems(client, configuration, operatorNamespace),
    outcome(client.list(resources.clusterTopologyBindings).then(({ items }) => items)),
    outcome(nodeLabels(client)),
    outcome(
      // `grove up` stores no configuration. Its default scheduler is grove-scheduler.
      isLocal || configuration.scheduler.profiles.some(({ name }) => name === scheduler.grove)
        ? client.list(resources.pods).then(({ items }) => sharedNodesOf(items))
        : Promise.resolve([]),
    ),
    outcome(timeOf(client, namespace)),
  ])
  return {
    server,
    isLocal,
    version,
    crds,
    operatorNamespace,
    ...found,
    lease,
    clusterRole,
    webhooks,
    valid,
    invalid,
    schedulers,
    bindings,
    nodes,
    sharedNodes,
    serverTime,
    observedAt: Date.now(),
  }
}

async function readAll<T>(
  requests: readonly (readonly [name: string, request: Promise<T>])[],
): Promise<ReadonlyMap<string, Outcome<T>>> {
  return new Map(
    await Promise.all(requests.map(async ([name, request]) => [name, await outcome(request)] as const)),
  )
}

function gitVersion(response: unknown): string {
  return (response as { gitVersion?: string }).gitVersion ?? ''
}

/** The configuration in the ConfigMap that the Deployment mounts. */
async function configurationFor(
  client: Client,
  namespace: string,
): Promise<Pick<Observations, 'configuration' | 'configurationOf' | 'configurationProblem' | 'deployment'>> {
  const defaults = {
    configuration: defaultConfiguration(),
    configurationOf: 'defaults',
    configurationProblem: undefined,
  } as const
  const found = await outcome(client.find(deployments, { namespace, name: operatorName }))
  if (!found.ok) return { ...defaults, deployment: found }
  if (!found.value) return { ...defaults, deployment: { ok: true, value: undefined } }
  const { spec, status } = found.value
  const deployment = {
    ok: true,
    value: { wanted: spec?.replicas ?? 1, ready: status?.readyReplicas ?? 0 },
  } as const
  const name = spec?.template?.spec?.volumes?.find(volume => volume.configMap)?.configMap?.name
  const stored = name === undefined ? undefined : await outcome(client.find(configMaps, { namespace, name }))
  const text = stored?.ok ? Object.values(stored.value?.data ?? {})[0] : undefined
  if (text === undefined)
    return {
      ...defaults,
      deployment,
      configurationProblem: `the ConfigMap ${namespace}/${name ?? ''} of Deployment ${operatorName} cannot be read`,
    }
  const loaded = configurationIn(text)
  if (typeof loaded === 'string')
    return { ...defaults, deployment, configurationProblem: `ConfigMap ${namespace}/${name}: ${loaded}` }
  return {
    deployment,
    configuration: loaded,
    configurationOf: 'Deployment',
    configurationProblem: undefined,
  }
}

/** The configuration, or the reason why it cannot be loaded. */
function configurationIn(text: string): OperatorConfiguration | string {
  let document: unknown
  try {
    document = parse(text)
  } catch (error) {
    // The lines after the first quote the text.
    return messageOf(error).split(':\n', 1)[0]!
  }
  const loaded = loadConfiguration(document)
  if (loaded.outcome === 'loaded') return loaded.configuration
  return loaded.outcome === 'undecodable' ? loaded.message : renderFieldErrors(loaded.errors)
}

/** Reads without the client's decoder, which drops `managedFields`: they contain the time of the API server. */
export async function readLease(
  client: Client,
  namespace: string,
  name: string,
): Promise<OperatorLease | undefined> {
  try {
    const lease = (await client.raw({
      verb: 'get',
      method: 'GET',
      path: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`,
    })) as {
      spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number }
      metadata?: { managedFields?: { time?: string }[] }
    }
    const times = lease.metadata?.managedFields?.map(({ time }) => Date.parse(time ?? '')) ?? []
    return {
      holder: lease.spec?.holderIdentity ?? '',
      durationSeconds: lease.spec?.leaseDurationSeconds ?? 15,
      renewedAt: Date.parse(lease.spec?.renewTime ?? ''),
      writtenAt: times.length > 0 ? Math.max(...times) : undefined,
    }
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Admission completes and stores the first of them, and rejects one that needs more pods than it has. */
function dryRun(client: Client, namespace: string, minAvailable: number): Promise<Stored<PodCliqueSet>> {
  const podSpec = { containers: [{ name: 'main', image: 'registry.example/doctor:1' }] }
  const set: PodCliqueSet = {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { namespace, name: `grove-doctor-${minAvailable}` },
    spec: {
      replicas: 1,
      template: {
        cliques: [{ name: 'web', spec: { roleName: 'web', replicas: 2, minAvailable, podSpec } }],
      },
    },
  }
  return client.create(resources.podCliqueSets, set, { dryRun: true, attempts: 1 })
}

interface SchedulerApi {
  readonly paths: readonly string[]
  readonly what: string
}

/** The APIs that the operator needs for a scheduler. */
const schedulerApis: Readonly<Partial<Record<string, SchedulerApi>>> = {
  [scheduler.kai]: { paths: ['/apis/scheduling.run.ai/v2alpha2'], what: 'the PodGroup API of KAI' },
  [scheduler.volcano]: {
    paths: ['/apis/scheduling.volcano.sh/v1beta1'],
    what: 'the PodGroup API of Volcano',
  },
  [scheduler.kubernetes]: {
    paths: [...new Set(nativeGangKinds.map(({ group, version }) => `/apis/${group}/${version}`))],
    what: 'native gangs of Kubernetes 1.37',
  },
}

async function schedulerProblems(
  client: Client,
  configuration: OperatorConfiguration,
  operatorNamespace: string,
): Promise<Observations['schedulers']> {
  return readAll(
    configuration.scheduler.profiles.map(({ name }) => [name, problemOf(client, name, operatorNamespace)]),
  )
}

async function problemOf(client: Client, name: string, namespace: string): Promise<string | undefined> {
  if (name === scheduler.grove) {
    const lease = await readLease(client, namespace, schedulerLease)
    return lease
      ? undefined
      : `the Lease ${namespace}/${schedulerLease} does not exist: grove-scheduler does not run`
  }
  const api = schedulerApis[name]
  if (!api) return undefined
  for (const path of api.paths)
    if (!(await isServed(client, path))) return `the API server does not serve ${api.what} (${path})`
  return undefined
}

async function isServed(client: Client, path: string): Promise<boolean> {
  try {
    await client.raw({ verb: 'get', method: 'GET', path })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/**
 * A scheduler does not see what another one has just assigned. Extended resources such as GPUs are never overcommitted.
 */
function sharedNodesOf(pods: readonly Pod[]): SharedNode[] {
  const users = new Map<string, Map<string, Set<string>>>()
  for (const { metadata, spec, status } of pods) {
    const isOver = metadata.deletionTimestamp || ['Succeeded', 'Failed'].includes(status?.phase ?? '')
    if (isOver || !spec.nodeName) continue
    const ofNode = users.get(spec.nodeName) ?? new Map<string, Set<string>>()
    users.set(spec.nodeName, ofNode)
    for (const { resources: { requests = {}, limits = {} } = {} } of spec.containers)
      for (const resource of Object.keys({ ...requests, ...limits }).filter(name => name.includes('/')))
        ofNode.set(resource, (ofNode.get(resource) ?? new Set()).add(spec.schedulerName ?? scheduler.default))
  }
  return [...users].flatMap(([node, ofNode]) =>
    [...ofNode].flatMap(([resource, schedulers]) => {
      const others = [...schedulers].filter(name => name !== scheduler.grove).sort()
      return schedulers.has(scheduler.grove) && others.length > 0 ? [{ node, resource, others }] : []
    }),
  )
}

/** The API server sets the creation time, also in a dry run. No webhook of Grove is involved. */
async function timeOf(client: Client, namespace: string): Promise<{ server: number; local: number }> {
  const before = Date.now()
  const { metadata } = await client.create(
    configMaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'grove-doctor' } },
    { dryRun: true, attempts: 1 },
  )
  return { server: Date.parse(metadata.creationTimestamp ?? ''), local: (before + Date.now()) / 2 }
}

/** Reads only metadata, because node objects of a large cluster have tens of kilobytes each. */
async function nodeLabels(client: Client) {
  const { items } = (await client.raw({
    verb: 'list',
    method: 'GET',
    path: '/api/v1/nodes',
    accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  })) as { items: { metadata: { name: string; labels?: Record<string, string> } }[] | null }
  // Without nodes the API server sends null.
  return (items ?? []).map(({ metadata: { name, labels = {} } }) => ({ name, labels }))
}
