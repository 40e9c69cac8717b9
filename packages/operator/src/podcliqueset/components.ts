// SPDX-License-Identifier: Apache-2.0

// The parts of a set in the order in which they are synced.
import { events, setErrorCode } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import { execute, nothingDone } from '../apply/execute.ts'
import { resources } from '../caches/resources.ts'
import { syncComputeDomains } from '../devices/compute-domains.ts'
import { syncSharedClaims } from '../devices/shared-claims.ts'
import { throwIfAny } from '../errors/coded-error.ts'
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

/** Missing children are created for replicas below `below` only. */
export function components(
  set: StoredSet,
  below: number,
  context: OperatorContext,
  tokens: TokenSecrets,
  signal: AbortSignal,
): SetComponents {
  const { caches } = context
  const { uid } = set.metadata
  const child = <T extends KubeObject>(part: ChildComponent<T>): Component =>
    childComponent<T>(part, set, context, signal)
  const owned = { ownerUid: uid, prune: true }
  const alongside: Component[] = [
    {
      ...child({
        name: 'Role',
        code: setErrorCode.syncRole,
        resource: resources.roles,
        kind: () => ({
          ...owned,
          wanted: [wantedObject(podRole(set))],
          existing: caches.roles.byIndex('controller', uid),
          patch: patchRole,
        }),
      }),
      // The API server rejects a binding to a role that does not exist yet.
      next: child({
        name: 'RoleBinding',
        code: setErrorCode.syncRoleBinding,
        resource: resources.roleBindings,
        kind: () => ({
          ...owned,
          wanted: [wantedObject(podRoleBinding(set))],
          existing: caches.roleBindings.byIndex('controller', uid),
          patch: patchRoleBinding,
          isBeyondRepair: bindsAnotherRole,
        }),
      }),
    },
    // After its account: kube-controller-manager deletes a token for an account that does not exist.
    {
      name: 'ServiceAccountTokenSecret',
      run: async () => {
        await tokens.sync(set, signal)
        return nothingDone
      },
    },
  ]
  const groups: Component[][] = [
    [
      // The API server rejects pods whose account does not exist.
      child({
        name: 'ServiceAccount',
        code: setErrorCode.syncServiceAccount,
        resource: resources.serviceAccounts,
        kind: () => ({
          ...owned,
          wanted: [wantedObject(serviceAccount(set))],
          existing: caches.serviceAccounts.byIndex('controller', uid),
          patch: patchServiceAccount,
        }),
      }),
      child({
        name: 'HeadlessService',
        code: setErrorCode.syncService,
        resource: resources.services,
        kind: () => ({
          ...owned,
          wanted: wantedServices(set, below),
          existing: caches.services.byIndex('controller', uid),
          patch: patchService,
        }),
      }),
      { name: 'ComputeDomain', run: () => syncComputeDomains(set, context, signal) },
      {
        name: 'ResourceClaim',
        run: () =>
          syncSharedClaims(
            {
              set,
              ownerUid: uid,
              entries: set.spec.template.resourceSharing ?? [],
              wanted: find => claimsOfSet(set, eachReplica(set), find),
              code: setErrorCode.syncResourceClaim,
            },
            context,
            signal,
          ),
      },
    ],
    [
      {
        name: 'PodClique',
        run: async () => {
          await renamePodsOf(set, context, signal)
          const outcome = await child({
            name: 'PodClique',
            code: setErrorCode.syncClique,
            resource: resources.podCliques,
            kind: () => ({
              ...owned,
              wanted: wantedCliques(
                set,
                revisionOf(set).templateHashes,
                asScaled(caches.autoscalers.byIndex('controller', uid), rememberedCounts(set, caches)),
                below,
              ),
              existing: caches.cliques.byIndex('controller', uid),
              patch: (existing, wanted) =>
                isHeldBack(set, setReplicaOf(existing) ?? 0) && !hasWantedTemplate(existing, revisionOf(set))
                  ? patchHeldClique(existing, wanted)
                  : patchClique(existing, wanted),
            }),
            written: clique => events.cliqueApplied(keyOf(clique)),
            removed: clique => events.cliqueDeleted(clique.metadata?.name ?? ''),
            writeFailed: (clique, error) => events.standaloneCliqueApplyFailed(keyOf(clique), error),
            removeFailed: (clique, error) => events.cliqueDeleteFailed(keyOf(clique), error),
          }).run()
          throwIfAny((await execute(countsToForget(set, caches), context, { signal })).failures)
          return outcome
        },
      },
    ],
    [
      child({
        name: 'PodCliqueScalingGroup',
        code: setErrorCode.syncScalingGroup,
        resource: resources.podCliqueScalingGroups,
        kind: () => ({
          ...owned,
          wanted: wantedScalingGroups(set, below),
          existing: caches.groups.byIndex('controller', uid),
          patch: patchScalingGroup,
        }),
        written: group => events.scalingGroupApplied(keyOf(group)),
        removed: group => events.scalingGroupDeleted(keyOf(group)),
        writeFailed: (group, error) => events.scalingGroupApplyFailed(keyOf(group), error),
        removeFailed: (group, error) => events.scalingGroupDeleteFailed(keyOf(group), error),
      }),
      // Last, so that no pod waits for it.
      {
        name: 'ControllerRevision',
        run: () => syncRevisions(set, context, signal),
      },
    ],
  ]
  const last = [
    // After its target: an autoscaler without one reports errors for 15 seconds.
    child({
      name: 'HorizontalPodAutoscaler',
      code: setErrorCode.syncAutoscaler,
      resource: resources.autoscalers,
      kind: () => ({
        ...owned,
        wanted: wantedAutoscalers(set, below),
        existing: caches.autoscalers.byIndex('controller', uid),
        patch: patchAutoscaler,
      }),
    }),
  ]
  return { groups, last, alongside }
}

/** Rewrites labels of the pods of adopted standalone cliques. The sync of the cliques repairs all other differences. */
async function renamePodsOf(set: StoredSet, context: OperatorContext, signal: AbortSignal): Promise<void> {
  const cliques = context.caches.cliques.byIndex('controller', set.metadata.uid)
  const intents = cliques
    .filter(clique => isToBeRelabelled(set, clique))
    .flatMap(clique => podRelabels(set, clique, context.caches.podsOf(clique)))
  throwIfAny((await execute(intents, context, { signal })).failures)
}
