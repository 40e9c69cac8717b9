// SPDX-License-Identifier: Apache-2.0

// Reads the objects and logs that maintainers need for a bug report. Secrets are never read. A failed request becomes
// an entry of the list of failures, because an incomplete archive is better than none.
import { type Client, defineResource, KubeError, type KubeObject, type Resource } from '@grove/kube'
import { resources } from '@grove/operator'
import { redacted, redactedText } from './redact.ts'

export interface ArchiveFile {
  readonly name: string
  readonly text: string
}

export interface CollectOptions {
  /** All namespaces if absent. */
  readonly namespace?: string
  readonly operatorNamespace: string
}

/** Limit of objects per kind. Issue trackers reject larger archives. */
const objectLimit = 5_000
const logLines = 5_000
const logBytes = 5 * 2 ** 20

const plain = (group: string, version: string, resource: string, kind: string, namespaced: boolean) =>
  defineResource<KubeObject>({ group, version, resource, kind, namespaced })

/** Kinds of the namespaces with workloads. */
const workloadKinds: Readonly<Record<string, Resource<KubeObject>>> = {
  podcliquesets: resources.podCliqueSets as Resource<KubeObject>,
  podcliquescalinggroups: resources.podCliqueScalingGroups as Resource<KubeObject>,
  podcliques: resources.podCliques as Resource<KubeObject>,
  podgangs: resources.podGangs as Resource<KubeObject>,
  controllerrevisions: resources.controllerRevisions as Resource<KubeObject>,
  horizontalpodautoscalers: resources.autoscalers as Resource<KubeObject>,
  resourceclaims: resources.resourceClaims as Resource<KubeObject>,
  services: resources.services as Resource<KubeObject>,
  pods: resources.pods as Resource<KubeObject>,
  events: plain('', 'v1', 'events', 'Event', true),
}
const operatorKinds: Readonly<Record<string, Resource<KubeObject>>> = {
  deployments: plain('apps', 'v1', 'deployments', 'Deployment', true),
  pods: resources.pods as Resource<KubeObject>,
  leases: plain('coordination.k8s.io', 'v1', 'leases', 'Lease', true),
  events: plain('', 'v1', 'events', 'Event', true),
}
const clusterKinds: Readonly<Record<string, Resource<KubeObject>>> = {
  nodes: plain('', 'v1', 'nodes', 'Node', false),
  clustertopologybindings: resources.clusterTopologyBindings as Resource<KubeObject>,
  priorityclasses: plain('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass', false),
  mutatingwebhookconfigurations: plain(
    'admissionregistration.k8s.io',
    'v1',
    'mutatingwebhookconfigurations',
    'MutatingWebhookConfiguration',
    false,
  ),
  validatingwebhookconfigurations: plain(
    'admissionregistration.k8s.io',
    'v1',
    'validatingwebhookconfigurations',
    'ValidatingWebhookConfiguration',
    false,
  ),
}

export async function collect(client: Client, options: CollectOptions): Promise<ArchiveFile[]> {
  const { namespace, operatorNamespace } = options
  const failures: string[] = []
  const files: ArchiveFile[] = []
  const list = async (name: string, resource: Resource<KubeObject>, of?: string) => {
    const objects = await attempt(failures, name, readSome(client, resource, of))
    if (!objects) return []
    files.push({ name: `${name}.json`, text: `${JSON.stringify(redacted(objects), null, 1)}\n` })
    return objects.items
  }
  for (const [name, resource] of Object.entries(clusterKinds)) await list(`cluster/${name}`, resource)
  for (const [name, resource] of Object.entries(workloadKinds))
    await list(`workloads/${name}`, resource, namespace)
  const operators = new Map<string, readonly KubeObject[]>()
  for (const [name, resource] of Object.entries(operatorKinds))
    operators.set(name, await list(`operator/${name}`, resource, operatorNamespace))
  for (const pod of operators.get('pods') ?? [])
    files.push(...(await logsOf(client, failures, operatorNamespace, pod.metadata?.name ?? '')))
  return [...files, { name: 'failures.txt', text: failures.map(line => `${line}\n`).join('') }]
}

async function readSome(client: Client, resource: Resource<KubeObject>, namespace?: string) {
  const items: KubeObject[] = []
  for await (const page of client.pages(resource, namespace === undefined ? {} : { namespace })) {
    items.push(...page.items)
    if (items.length >= objectLimit) return { truncatedAt: objectLimit, items: items.slice(0, objectLimit) }
  }
  return { items }
}

/** The current and the previous log of every container, because a crash is in the previous one. */
async function logsOf(
  client: Client,
  failures: string[],
  namespace: string,
  pod: string,
): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = []
  for (const previous of [false, true]) {
    const name = `operator/logs/${pod}${previous ? '.previous' : ''}.log`
    const request = client.raw({
      verb: 'get',
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/pods/${pod}/log?tailLines=${logLines}&limitBytes=${logBytes}&previous=${previous}`,
      accept: '*/*',
    })
    // Most pods have no previous log.
    const log = await attempt(previous ? [] : failures, name, request)
    if (log === undefined) continue
    // The client parses a log that consists of one JSON line.
    const text = typeof log === 'string' ? log : JSON.stringify(log)
    files.push({ name, text: redactedText(text) })
  }
  return files
}

async function attempt<T>(failures: string[], name: string, request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    failures.push(`${name}: ${redactedText(error.message)}`)
    return undefined
  }
}
