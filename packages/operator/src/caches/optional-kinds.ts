// SPDX-License-Identifier: Apache-2.0

// Optional kinds of other projects: not every cluster serves them, and not every configuration grants access to them.
import { enabledSchedulers, type OperatorConfiguration, scheduler } from '@grove/api'
import {
  type Client,
  defineResource,
  discover,
  isKubeError,
  type KubeObject,
  type Logger,
  type ResourceDescriptor,
} from '@grove/kube'
import type { OptionalWatch } from './caches.ts'
import { nativeGangKinds, resources } from './resources.ts'

/** The kinds to watch now, and the kinds to watch once the cluster serves them. */
export async function optionalKinds(
  client: Client,
  configuration: OperatorConfiguration,
  log: Logger,
): Promise<(resource: ResourceDescriptor) => OptionalWatch> {
  const isServed = await servedResources(client)
  const schedulers = enabledSchedulers(configuration)
  const mayComeLater = [
    resources.resourceClaims,
    resources.resourceClaimTemplates,
    ...(schedulers.has(scheduler.kai) ? [resources.kaiTopologies, resources.kaiPodGroups] : []),
    ...(schedulers.has(scheduler.volcano) ? [resources.volcanoPodGroups] : []),
    ...(schedulers.has(scheduler.kubernetes) ? nativeGangKinds : []),
  ]
  const watched = new Map<string, OptionalWatch>(
    mayComeLater.map(resource => [idOf(resource), isServed(resource) ? 'now' : 'late']),
  )
  if (await mayKeepHistory(client, log)) watched.set(idOf(resources.controllerRevisions), 'now')
  const { computeDomains } = resources
  if (isServed(computeDomains) && (await mayManageDomains(client, configuration, log)))
    watched.set(idOf(computeDomains), 'now')
  return resource => watched.get(idOf(resource)) ?? 'never'
}

/** Returns a function that reports whether the cluster serves a resource in exactly its version. */
export async function servedResources(client: Client): Promise<(resource: ResourceDescriptor) => boolean> {
  const served = new Set((await discover(client)).map(idOf))
  return resource => served.has(idOf(resource))
}

/** Installations from before the revision history lack this permission. Everything else works without it. */
async function mayKeepHistory(client: Client, log: Logger): Promise<boolean> {
  try {
    await client.page(resources.controllerRevisions, { limit: 1 })
    return true
  } catch (error) {
    if (!isKubeError(error, 'Forbidden', 'NotFound')) throw error
    log.error(
      'Revisions of sets are not recorded, so grove rollout has no history to show: the operator needs the verbs get, list, watch, create, patch and delete on controllerrevisions of the group apps',
      { error },
    )
    return false
  }
}

interface AccessReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: Readonly<Record<string, string>> }
  readonly status?: { readonly allowed: boolean }
}

const accessReviews = defineResource<AccessReview>({
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
})

/**
 * The configuration decides whether new sets may use NVLink domains. The operator manages existing domains as long as
 * RBAC permits it: otherwise its finalizer would block the deletion of the domains and their sets for ever.
 */
async function mayManageDomains(
  client: Client,
  { network }: OperatorConfiguration,
  log: Logger,
): Promise<boolean> {
  if (network.autoMNNVLEnabled) return true
  const { group, resource } = resources.computeDomains
  const verbs = ['list', 'watch', 'create', 'patch', 'delete']
  const reviews = await Promise.all(
    verbs.map(verb =>
      client.create(accessReviews, {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: {},
        spec: { resourceAttributes: { group, resource, verb } },
      }),
    ),
  )
  const isAllowed = reviews.every(({ status }) => status?.allowed === true)
  if (!isAllowed)
    log.error(
      `ComputeDomains are not reconciled, and those of deleted sets remain: the operator needs the verbs ${verbs.join(', ')} on ${resource} of the group ${group}`,
    )
  return isAllowed
}

function idOf({ group, version, resource }: ResourceDescriptor): string {
  return `${group}/${version}/${resource}`
}
