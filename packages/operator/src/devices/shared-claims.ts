// SPDX-License-Identifier: Apache-2.0

// Claims that pods share: missing ones are made from their templates, stale ones removed. The spec of a claim cannot be
// changed, so a template is read only when a claim has to be made from it.
import type { ErrorCode, PodCliqueSet, ResourceClaim, ResourceClaimSpec, ResourceSharing } from '@grove/api'
import { isAlreadyExists, isNotFound, type Stored } from '@grove/kube'
import { firstBatch, mostCreated, type Progress, patchObject, runAll, runSlowStart } from '../apply/writes.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, ReconcileFailed } from '../errors/coded-error.ts'
import { isMadeForSameSet } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { ClaimTemplateLookup } from '../objects/resource-claim.ts'
import type { WantedChild } from '../objects/wanted-child.ts'
import type { OperatorContext } from '../operator-context.ts'
import { type ChildPlan, planChildren } from '../ownership/child-objects.ts'

export interface SharedClaims {
  readonly set: StoredSet
  readonly ownerUid: string
  readonly entries: readonly ResourceSharing[]
  /** The claims that should be there, given what their templates say. */
  wanted(find: ClaimTemplateLookup): Iterable<WantedChild<ResourceClaim>>
  readonly code: ErrorCode
}

/** Returns whether there are more claims to create than one reconcile creates; whoever needs them waits until then. */
export async function syncSharedClaims(
  part: SharedClaims,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<Progress> {
  const cache = context.caches.resourceClaims
  if (part.entries.length === 0) return 'complete'
  if (!cache)
    throw new CodedError(
      'Sync',
      part.code,
      'devices are shared, but the cluster does not serve resource.k8s.io/v1',
    )
  const plan = planChildren({
    wanted: part.wanted(() => ({})),
    existing: cache.byIndex('controller', part.ownerUid),
    ownerUid: part.ownerUid,
    prune: true,
    patch: missingLabels,
  })
  const failures = [
    ...plan.taken.map(claim =>
      failed(part, `ResourceClaim ${claim.metadata.name} exists and is controlled by somebody else`),
    ),
    ...plan.leaving.map(claim => failed(part, `ResourceClaim ${claim.metadata.name} is still being deleted`)),
    ...(await create(part, plan, context, signal)),
    ...(await runAll([
      ...plan.patch.map(
        ({ object, patch }) =>
          () =>
            patchObject(context.caches, resources.resourceClaims, object, { merge: patch }, { signal }),
      ),
      ...plan.remove.map(claim => () => remove(part, claim, context, signal)),
    ])),
  ]
  if (failures.length) throw new ReconcileFailed(failures)
  return plan.create.length < mostCreated ? 'complete' : 'more'
}

async function create(
  part: SharedClaims,
  plan: ChildPlan<ResourceClaim>,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  if (plan.create.length === 0) return []
  const templates = new Map<ResourceSharing, ResourceClaimSpec>()
  const failures = await runAll(
    part.entries.map(entry => async () => {
      templates.set(entry, await templateOf(part, entry, context, signal))
    }),
  )
  const missing = new Set(plan.create.map(claim => claim.metadata.name))
  const found = Iterator.from(part.wanted(entry => templates.get(entry)))
    .filter(({ name }) => missing.has(name))
    .toArray()
  const { failures: notCreated } = await runSlowStart(
    found.map(({ build }) => async () => {
      const claim = build()
      try {
        await context.caches.client.create(resources.resourceClaims, claim, { signal })
      } catch (error) {
        if (!isAlreadyExists(error))
          throw failed(part, `Error creating ResourceClaim ${claim.metadata.name}`, error)
        await claimAsOurs(part, claim, context, signal)
      }
    }),
    { tolerated: firstBatch },
  )
  return [...failures, ...notCreated]
}

/**
 * The name is taken by a claim that the cache does not list under this owner: ours and new, ours without its labels, an
 * orphan with our labels, or one of another owner. An orphan is adopted; a claim of another owner, and one without a
 * controller that does not carry our labels, is reported and never patched.
 */
async function claimAsOurs(
  part: SharedClaims,
  wanted: ResourceClaim,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const found = await caches.client.find(resources.resourceClaims, refOf(wanted), { signal })
  const id = `ResourceClaim ${wanted.metadata.name}`
  if (!found || found.metadata.deletionTimestamp) throw failed(part, `${id} is still being deleted`)
  const owners = found.metadata.ownerReferences ?? []
  const controller = owners.find(owner => owner.controller)
  if (controller && controller.uid !== part.ownerUid)
    throw failed(part, `${id} exists and is controlled by ${controller.kind} ${controller.name}`)
  const labels = missingLabels(found, wanted)
  if (!controller && !isMadeForSameSet(found, wanted))
    throw failed(
      part,
      `${id} exists and does not belong to this PodCliqueSet; delete it or rename the PodCliqueSet`,
    )
  if (controller && !labels) return
  const metadata = {
    ...labels?.metadata,
    ...(!controller && { ownerReferences: [...owners, ...(wanted.metadata.ownerReferences ?? [])] }),
    resourceVersion: found.metadata.resourceVersion,
  }
  await patchObject(caches, resources.resourceClaims, found, { merge: { metadata } }, { signal })
}

/** Templates inside the set come before those of the cluster. */
async function templateOf(
  part: SharedClaims,
  entry: ResourceSharing,
  { caches, configuration }: OperatorContext,
  signal: AbortSignal,
): Promise<ResourceClaimSpec> {
  const { set } = part
  const internal = (set.spec.template.resourceClaimTemplates ?? []).find(({ name }) => name === entry.name)
  if (internal && !entry.namespace) return internal.templateSpec.spec
  const namespace = entry.namespace || set.metadata.namespace
  const { allowedTemplateNamespaces } = configuration.resourceSharing
  const isOpen = allowedTemplateNamespaces.includes(namespace) || allowedTemplateNamespaces.includes('*')
  if (namespace !== set.metadata.namespace && !isOpen)
    throw failed(
      part,
      `claim templates of namespace ${namespace} may not be used from other namespaces; the operator configuration must list it in resourceSharing.allowedTemplateNamespaces`,
    )
  const found = await caches.client.find(
    resources.resourceClaimTemplates,
    { name: entry.name, namespace },
    { signal },
  )
  if (!found) throw failed(part, `ResourceClaimTemplate ${namespace}/${entry.name} does not exist`)
  return found.spec.spec
}

async function remove(
  part: SharedClaims,
  claim: Stored<ResourceClaim>,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  try {
    await caches.client.delete(resources.resourceClaims, refOf(claim), {
      signal,
      preconditions: { uid: claim.metadata.uid },
    })
  } catch (error) {
    if (!isNotFound(error)) throw failed(part, `Error deleting ResourceClaim ${claim.metadata.name}`, error)
  }
}

/** Labels that others put on a claim stay. */
function missingLabels(existing: Stored<ResourceClaim>, wanted: ResourceClaim) {
  const missing = Object.entries(wanted.metadata.labels ?? {}).filter(
    ([key, value]) => existing.metadata.labels?.[key] !== value,
  )
  return missing.length ? { metadata: { labels: Object.fromEntries(missing) } } : undefined
}

function failed(part: SharedClaims, message: string, cause?: unknown): CodedError {
  return new CodedError('Sync', part.code, message, cause)
}

function refOf({ metadata }: ResourceClaim) {
  return { name: metadata.name, namespace: metadata.namespace ?? '' }
}

/** Whether a set has shared claims or NVLink domains. */
export function usesDevices(set: StoredSet, { computeDomains }: Caches): boolean {
  return sharedBy(set).length > 0 || (computeDomains?.byIndex('controller', set.metadata.uid).length ?? 0) > 0
}

export function sharedBy({ spec: { template } }: PodCliqueSet): ResourceSharing[] {
  return [
    ...(template.resourceSharing ?? []),
    ...(template.podCliqueScalingGroups ?? []).flatMap(group => group.resourceSharing ?? []),
    ...template.cliques.flatMap(clique => clique.resourceSharing ?? []),
  ]
}
