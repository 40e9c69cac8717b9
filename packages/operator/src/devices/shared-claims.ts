// SPDX-License-Identifier: Apache-2.0

// ResourceClaims that pods share. Missing claims are created from their templates, and claims that are no longer
// wanted are deleted. The spec of a claim is immutable, so a template is read only when a claim has to be created
// from it.
import type { ErrorCode, PodCliqueSet, ResourceClaim, ResourceClaimSpec, ResourceSharing } from '@grove/api'
import type { Stored } from '@grove/kube'
import { execute, nothingDone, type Outcome } from '../apply/execute.ts'
import type { Create, MergePatch } from '../apply/intent.ts'
import { firstBatch, runAll } from '../apply/writes.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { claimErrors } from '../errors/catalogue.ts'
import { hasLabelsOfSameSet } from '../layout/owner.ts'
import { internalTemplate } from '../layout/resource-sharing.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { ClaimTemplateLookup } from '../objects/resource-claim.ts'
import type { WantedChild } from '../objects/wanted-child.ts'
import type { OperatorContext } from '../operator-context.ts'
import { planChildren } from '../ownership/child-objects.ts'

export interface SharedClaims {
  readonly set: StoredSet
  readonly ownerUid: string
  readonly entries: readonly ResourceSharing[]
  /** Returns the claims that the owner wants, built from the templates that the lookup returns. */
  wanted(find: ClaimTemplateLookup): Iterable<WantedChild<ResourceClaim>>
  readonly code: ErrorCode
}

/** Pods that use the claims are created only after an outcome without failures and with nothing left to create. */
export async function syncSharedClaims(
  part: SharedClaims,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const cache = context.caches.resourceClaims
  const { code, ownerUid } = part
  if (part.entries.length === 0) return nothingDone
  if (!cache) return { ...nothingDone, failures: [claimErrors.notServed(code)()] }
  const plan = planChildren({
    wanted: part.wanted(() => ({})),
    existing: cache.byIndex('controller', ownerUid),
    ownerUid,
    patch: missingLabels,
  })
  const { intents, failures } = await creations(part, plan.create, context, signal)
  const outcome = await execute(
    [
      ...plan.patch.map(({ object, patch }) => ({
        kind: 'patch' as const,
        resource: resources.resourceClaims,
        object,
        merge: patch,
      })),
      ...plan.remove.map(object => ({
        kind: 'delete' as const,
        resource: resources.resourceClaims,
        object,
        error: claimErrors.delete(code, object.metadata.name),
      })),
      ...intents,
    ],
    context,
    { signal, tolerated: firstBatch },
  )
  return {
    ...outcome,
    failures: [
      ...plan.taken.map(({ metadata }) => claimErrors.foreign(code, metadata.name, 'another owner')()),
      ...plan.terminating.map(({ metadata }) => claimErrors.terminating(code, metadata.name)()),
      ...failures,
      ...outcome.failures,
    ],
  }
}

/** Reads the templates of missing claims. Omits and reports claims whose template cannot be read. */
async function creations(
  part: SharedClaims,
  missing: readonly ResourceClaim[],
  context: OperatorContext,
  signal: AbortSignal,
): Promise<{ intents: Create<ResourceClaim>[]; failures: unknown[] }> {
  if (missing.length === 0) return { intents: [], failures: [] }
  const templates = new Map<ResourceSharing, ResourceClaimSpec>()
  const failures = await runAll(
    part.entries.map(entry => async () => {
      templates.set(entry, await templateOf(part, entry, context, signal))
    }),
  )
  const names = new Set(missing.map(claim => claim.metadata.name))
  const intents = Iterator.from(part.wanted(entry => templates.get(entry)))
    .filter(({ name }) => names.has(name))
    .map(({ build }) => creation(part, build()))
    .toArray()
  return { intents, failures }
}

function creation({ code, ownerUid }: SharedClaims, object: ResourceClaim): Create<ResourceClaim> {
  const { name } = object.metadata
  return {
    kind: 'create',
    resource: resources.resourceClaims,
    object,
    error: claimErrors.create(code, name),
    existing: {
      ownerUid,
      repair: existing => missingLabels(existing, object),
      adopt: existing => adoption(existing, object),
      conflict: ({ metadata }) => {
        const controller = metadata.ownerReferences?.find(owner => owner.controller)
        return controller
          ? claimErrors.foreign(code, name, `${controller.kind} ${controller.name}`)()
          : claimErrors.notOfThisSet(code, name)()
      },
    },
  }
}

/**
 * Adopts a claim without a controller only if it carries the labels of this set, because users may choose the same
 * name.
 */
function adoption(existing: Stored<ResourceClaim>, wanted: ResourceClaim): MergePatch | undefined {
  const { ownerReferences = [], resourceVersion } = existing.metadata
  if (ownerReferences.some(owner => owner.controller) || !hasLabelsOfSameSet(existing, wanted))
    return undefined
  return {
    metadata: {
      ...missingLabels(existing, wanted)?.metadata,
      ownerReferences: [...ownerReferences, ...(wanted.metadata.ownerReferences ?? [])],
      resourceVersion,
    },
  }
}

/** Templates inside the set take precedence over those of the cluster. */
async function templateOf(
  { set, code }: SharedClaims,
  entry: ResourceSharing,
  { caches, configuration }: OperatorContext,
  signal: AbortSignal,
): Promise<ResourceClaimSpec> {
  const internal = internalTemplate(set, entry)
  if (internal) return internal
  const namespace = entry.namespace || set.metadata.namespace
  const { allowedTemplateNamespaces } = configuration.resourceSharing
  const isAllowed = allowedTemplateNamespaces.includes(namespace) || allowedTemplateNamespaces.includes('*')
  if (namespace !== set.metadata.namespace && !isAllowed)
    throw claimErrors.namespaceNotAllowed(code, namespace)()
  const ref = { name: entry.name, namespace }
  const found = await caches.client.find(resources.resourceClaimTemplates, ref, { signal })
  if (!found) throw claimErrors.noTemplate(code, `${namespace}/${entry.name}`)()
  return found.spec.spec
}

/** The operator's own labels. Labels of other clients stay. */
function missingLabels(existing: Stored<ResourceClaim>, wanted: ResourceClaim) {
  const missing = Object.entries(wanted.metadata.labels ?? {}).filter(
    ([key, value]) => existing.metadata.labels?.[key] !== value,
  )
  return missing.length ? { metadata: { labels: Object.fromEntries(missing) } } : undefined
}

/** Reports whether a set has shared claims or NVLink domains. */
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
