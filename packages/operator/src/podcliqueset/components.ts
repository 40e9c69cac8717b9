// SPDX-License-Identifier: Apache-2.0

// The parts of a set in the order in which they are synced.
import {
  events,
  type HorizontalPodAutoscaler,
  type PodClique,
  type PodCliqueScalingGroup,
  type Role,
  type RoleBinding,
  type Service,
  type ServiceAccount,
  setErrorCode,
} from '@grove/api'
import type { KubeObject } from '@grove/kube'
import { executeOrThrow, nothingDone, type Outcome } from '../apply/execute.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { type SyncedDomains, syncComputeDomains } from '../devices/compute-domains.ts'
import { type SharedClaims, syncSharedClaims } from '../devices/shared-claims.ts'
import { setReplicaOf } from '../layout/clique-instance.ts'
import { eachReplica } from '../layout/layout.ts'
import { keyOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import { podRole, podRoleBinding, serviceAccount } from '../objects/identity.ts'
import { claimsOfSet } from '../objects/resource-claim.ts'
import { wantedObject } from '../objects/wanted-child.ts'
import type { OperatorContext } from '../operator-context.ts'
import {
  bindsAnotherRole,
  patchAutoscaler,
  patchClique,
  patchHeldClique,
  patchRole,
  patchRoleBinding,
  patchScalingGroup,
  patchService,
  patchServiceAccount,
} from '../ownership/child-fields.ts'
import { isToBeRelabelled, podRelabels } from '../ownership/take-over.ts'
import { syncRevisions } from '../revision/records.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { countsToForget, rememberedCounts } from '../termination/remembered-counts.ts'
import { hasWantedTemplate } from '../update/clique-state.ts'
import { isHeldBack } from '../update/set-progress.ts'
import { type ChildComponent, type Component, type Components, childComponent } from './child-component.ts'
import {
  asScaled,
  type IsLater,
  wantedAutoscalers,
  wantedCliques,
  wantedScalingGroups,
  wantedServices,
} from './children.ts'
import type { TokenSecrets } from './token-secret.ts'

export interface SetComponents extends Components {
  /** They need everything in `groups`. Gangs do not need them. */
  readonly last: readonly Component[]
}

/** The order of the components is here; each of them is described below. Creates no child of a replica from `below` on. */
export function components(
  set: StoredSet,
  below: number,
  context: OperatorContext,
  tokens: TokenSecrets,
  signal: AbortSignal,
): SetComponents {
  const { caches } = context
  const child = <T extends KubeObject>(part: ChildComponent<T>): Component =>
    childComponent(part, set, context, signal)
  const isAbove = (replica: number) => replica >= below
  // The first group decides which replicas wait for a domain.
  let waiting: SyncedDomains['waiting'] = new Map()
  const isLater = (replica: number) => isAbove(replica) || waiting.has(replica)
  return {
    groups: [
      [
        // The API server rejects pods whose account does not exist.
        child(accountComponent(set, caches)),
        child(serviceComponent(set, isAbove, caches)),
        {
          name: 'ComputeDomain',
          run: async () => {
            const synced = await syncComputeDomains(set, context, signal)
            waiting = synced.waiting
            return synced
          },
        },
        { name: 'ResourceClaim', run: () => syncSharedClaims(claimsOf(set), context, signal) },
      ],
      [{ name: 'PodClique', run: () => syncCliques(set, isLater, context, signal) }],
      [
        child(groupComponent(set, isLater, caches)),
        // Last, so that no pod waits for it.
        { name: 'ControllerRevision', run: () => syncRevisions(set, context, signal) },
      ],
    ],
    // After its target: an autoscaler without one reports errors for 15 seconds.
    last: [
      child(autoscalerComponent(set, isLater, caches)),
      // Reported last, because other replicas do not wait.
      { name: 'ComputeDomain', run: async () => ({ ...nothingDone, failures: [...waiting.values()] }) },
    ],
    alongside: [
      // The API server rejects a binding to a role that does not exist yet.
      { ...child(roleComponent(set, caches)), next: child(roleBindingComponent(set, caches)) },
      // After its account: kube-controller-manager deletes a token for an account that does not exist.
      {
        name: 'ServiceAccountTokenSecret',
        run: async () => {
          await tokens.sync(set, signal)
          return nothingDone
        },
      },
    ],
  }
}

function accountComponent(set: StoredSet, caches: Caches): ChildComponent<ServiceAccount> {
  return {
    name: 'ServiceAccount',
    code: setErrorCode.syncServiceAccount,
    resource: resources.serviceAccounts,
    kind: () => ({
      ownerUid: set.metadata.uid,
      wanted: [wantedObject(serviceAccount(set))],
      existing: caches.serviceAccounts.byIndex('controller', set.metadata.uid),
      patch: patchServiceAccount,
    }),
  }
}

function roleComponent(set: StoredSet, caches: Caches): ChildComponent<Role> {
  return {
    name: 'Role',
    code: setErrorCode.syncRole,
    resource: resources.roles,
    kind: () => ({
      ownerUid: set.metadata.uid,
      wanted: [wantedObject(podRole(set))],
      existing: caches.roles.byIndex('controller', set.metadata.uid),
      patch: patchRole,
    }),
  }
}

function roleBindingComponent(set: StoredSet, caches: Caches): ChildComponent<RoleBinding> {
  return {
    name: 'RoleBinding',
    code: setErrorCode.syncRoleBinding,
    resource: resources.roleBindings,
    kind: () => ({
      ownerUid: set.metadata.uid,
      wanted: [wantedObject(podRoleBinding(set))],
      existing: caches.roleBindings.byIndex('controller', set.metadata.uid),
      patch: patchRoleBinding,
      isBeyondRepair: bindsAnotherRole,
    }),
  }
}

function serviceComponent(set: StoredSet, isLater: IsLater, caches: Caches): ChildComponent<Service> {
  return {
    name: 'HeadlessService',
    code: setErrorCode.syncService,
    resource: resources.services,
    kind: () => ({
      ownerUid: set.metadata.uid,
      wanted: wantedServices(set, isLater),
      existing: caches.services.byIndex('controller', set.metadata.uid),
      patch: patchService,
    }),
  }
}

function claimsOf(set: StoredSet): SharedClaims {
  return {
    set,
    ownerUid: set.metadata.uid,
    entries: set.spec.template.resourceSharing ?? [],
    wanted: find => claimsOfSet(set, eachReplica(set), find),
    code: setErrorCode.syncResourceClaim,
  }
}

async function syncCliques(
  set: StoredSet,
  isLater: IsLater,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const { caches } = context
  await relabelPodsOf(set, context, signal)
  const outcome = await childComponent(cliqueComponent(set, isLater, caches), set, context, signal).run()
  await executeOrThrow(countsToForget(set, caches), context, signal)
  return outcome
}

function cliqueComponent(set: StoredSet, isLater: IsLater, caches: Caches): ChildComponent<PodClique> {
  const { uid } = set.metadata
  const counts = () => asScaled(caches.autoscalers.byIndex('controller', uid), rememberedCounts(set, caches))
  return {
    name: 'PodClique',
    code: setErrorCode.syncClique,
    resource: resources.podCliques,
    kind: () => ({
      ownerUid: set.metadata.uid,
      wanted: wantedCliques(set, revisionOf(set).templateHashes, counts(), isLater),
      existing: caches.cliques.byIndex('controller', uid),
      patch: (existing, wanted) =>
        keepsTemplate(set, existing) ? patchHeldClique(existing, wanted) : patchClique(existing, wanted),
    }),
    written: clique => events.cliqueApplied(keyOf(clique)),
    removed: clique => events.cliqueDeleted(clique.metadata?.name ?? ''),
    writeFailed: (clique, error) => events.standaloneCliqueApplyFailed(keyOf(clique), error),
    removeFailed: (clique, error) => events.cliqueDeleteFailed(keyOf(clique), error),
  }
}

/** Reports whether the update does not reach the clique for now. */
function keepsTemplate(set: StoredSet, clique: PodClique): boolean {
  return isHeldBack(set, setReplicaOf(clique) ?? 0) && !hasWantedTemplate(clique, revisionOf(set))
}

function groupComponent(
  set: StoredSet,
  isLater: IsLater,
  caches: Caches,
): ChildComponent<PodCliqueScalingGroup> {
  return {
    name: 'PodCliqueScalingGroup',
    code: setErrorCode.syncScalingGroup,
    resource: resources.podCliqueScalingGroups,
    kind: () => ({
      ownerUid: set.metadata.uid,
      wanted: wantedScalingGroups(set, isLater),
      existing: caches.groups.byIndex('controller', set.metadata.uid),
      patch: patchScalingGroup,
    }),
    written: group => events.scalingGroupApplied(keyOf(group)),
    removed: group => events.scalingGroupDeleted(keyOf(group)),
    writeFailed: (group, error) => events.scalingGroupApplyFailed(keyOf(group), error),
    removeFailed: (group, error) => events.scalingGroupDeleteFailed(keyOf(group), error),
  }
}

function autoscalerComponent(
  set: StoredSet,
  isLater: IsLater,
  caches: Caches,
): ChildComponent<HorizontalPodAutoscaler> {
  return {
    name: 'HorizontalPodAutoscaler',
    code: setErrorCode.syncAutoscaler,
    resource: resources.autoscalers,
    kind: () => ({
      ownerUid: set.metadata.uid,
      wanted: wantedAutoscalers(set, isLater),
      existing: caches.autoscalers.byIndex('controller', set.metadata.uid),
      patch: patchAutoscaler,
    }),
  }
}

/** Rewrites labels of the pods of adopted standalone cliques. The sync of the cliques repairs all other differences. */
async function relabelPodsOf(set: StoredSet, context: OperatorContext, signal: AbortSignal): Promise<void> {
  const cliques = context.caches.cliques.byIndex('controller', set.metadata.uid)
  const intents = cliques
    .filter(clique => isToBeRelabelled(set, clique))
    .flatMap(clique => podRelabels(set, clique, context.caches.podsOf(clique)))
  await executeOrThrow(intents, context, signal)
}
