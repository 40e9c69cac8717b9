// SPDX-License-Identifier: Apache-2.0

// The parts of a set in the order in which they are brought about. Parts of one group run side by side; a failure in a
// group stops the groups after it.
import { type ErrorCode, type EventValue, eventSource, events, label, setErrorCode } from '@grove/api'
import { isAlreadyExists, isNotFound, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { hasArrived } from '../arrival.ts'
import { type ChildKind, planChildren } from '../child-objects.ts'
import { numberLabel } from '../clique-instance.ts'
import { CodedError, PassFailed, textOf } from '../coded-error.ts'
import { range } from '../layout.ts'
import { keyOf } from '../object-key.ts'
import { podRole, podRoleBinding, serviceAccount } from '../objects/identity.ts'
import { claimsOfSet } from '../objects/resource-claim.ts'
import type { OperatorContext } from '../operator-context.ts'
import { isOfWantedTemplate } from '../podclique/outdated-pods.ts'
import { resources } from '../resources.ts'
import { revisionOf } from '../revision-of-set.ts'
import { syncSharedClaims } from '../shared-claims.ts'
import type { StoredClique, StoredSet } from '../stored.ts'
import { isToBeRenamed, renamePods } from '../take-over.ts'
import { runAll } from '../writes.ts'
import {
  asScaled,
  patchAutoscaler,
  patchClique,
  patchHeldClique,
  patchRole,
  patchRoleBinding,
  patchScalingGroup,
  patchService,
  patchServiceAccount,
  wantedAutoscalers,
  wantedCliques,
  wantedScalingGroups,
  wantedServices,
} from './children.ts'
import { syncComputeDomains } from './compute-domains.ts'
import { syncRevisions } from './revision-records.ts'
import type { TokenSecrets } from './token-secret.ts'
import { isHeldBack } from './update.ts'

export interface Component {
  /** As it stands in error texts. */
  readonly name: string
  run(): Promise<void>
}

export function components(
  set: StoredSet,
  context: OperatorContext,
  tokens: TokenSecrets,
  signal: AbortSignal,
): Component[][] {
  const { world } = context
  const { uid } = set.metadata
  const child = <T extends KubeObject>(
    part: Omit<ChildComponent<T>, 'set' | 'context' | 'signal'>,
  ): Component => childComponent<T>({ ...part, set, context, signal })
  const owned = { ownerUid: uid, prune: true }
  return [
    [
      {
        name: 'ServiceAccount',
        run: async () => {
          await child({
            name: 'ServiceAccount',
            code: setErrorCode.syncServiceAccount,
            resource: resources.serviceAccounts,
            kind: {
              ...owned,
              wanted: [serviceAccount(set)],
              existing: world.serviceAccounts.byIndex('controller', uid),
              patch: patchServiceAccount,
            },
          }).run()
          // A token for an account that does not exist yet would be thrown away by the cluster.
          await tokens.sync(set, signal)
        },
      },
      child({
        name: 'Role',
        code: setErrorCode.syncRole,
        resource: resources.roles,
        kind: {
          ...owned,
          wanted: [podRole(set)],
          existing: world.roles.byIndex('controller', uid),
          patch: patchRole,
        },
      }),
      child({
        name: 'HeadlessService',
        code: setErrorCode.syncService,
        resource: resources.services,
        kind: {
          ...owned,
          wanted: wantedServices(set),
          existing: world.services.byIndex('controller', uid),
          patch: patchService,
        },
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
              wanted: find => claimsOfSet(set, range(0, set.spec.replicas ?? 0), find),
              code: setErrorCode.syncResourceClaim,
            },
            context,
            signal,
          ),
      },
      child({
        name: 'HorizontalPodAutoscaler',
        code: setErrorCode.syncAutoscaler,
        resource: resources.autoscalers,
        kind: {
          ...owned,
          wanted: wantedAutoscalers(set),
          existing: world.autoscalers.byIndex('controller', uid),
          patch: patchAutoscaler,
        },
      }),
    ],
    [
      // After its Role: a binding to a role that is not there yet cannot be judged, and is refused.
      child({
        name: 'RoleBinding',
        code: setErrorCode.syncRoleBinding,
        resource: resources.roleBindings,
        kind: {
          ...owned,
          wanted: [podRoleBinding(set)],
          existing: world.roleBindings.byIndex('controller', uid),
          patch: patchRoleBinding,
        },
      }),
      {
        name: 'PodClique',
        run: async () => {
          await renamePodsOf(set, context, signal)
          await child({
            name: 'PodClique',
            code: setErrorCode.syncClique,
            resource: resources.podCliques,
            kind: {
              ...owned,
              wanted: asScaled(
                wantedCliques(set, revisionOf(set).templateHashes),
                world.autoscalers.byIndex('controller', uid),
              ),
              existing: world.cliques.byIndex('controller', uid),
              patch: (existing, wanted) =>
                isHeldBack(set, numberLabel(existing.metadata.labels, label.setReplicaIndex) ?? 0) &&
                !isOfWantedTemplate(set, existing as StoredClique)
                  ? patchHeldClique(existing, wanted)
                  : patchClique(existing, wanted),
            },
            written: clique => events.cliqueApplied(keyOf(clique)),
            removed: clique => events.cliqueDeleted(clique.metadata?.name ?? ''),
            failed: (clique, error) => events.standaloneCliqueApplyFailed(keyOf(clique), error),
          }).run()
        },
      },
    ],
    [
      child({
        name: 'PodCliqueScalingGroup',
        code: setErrorCode.syncScalingGroup,
        resource: resources.podCliqueScalingGroups,
        kind: {
          ...owned,
          wanted: wantedScalingGroups(set),
          existing: world.groups.byIndex('controller', uid),
          patch: patchScalingGroup,
        },
        written: group => events.scalingGroupApplied(keyOf(group)),
        removed: group => events.scalingGroupDeleted(keyOf(group)),
        failed: (group, error) => events.scalingGroupApplyFailed(keyOf(group), error),
      }),
      // Last, so that no pod waits for it.
      { name: 'ControllerRevision', run: () => syncRevisions(set, context, signal) },
    ],
  ]
}

/** Pods of standalone cliques that were taken over; their cliques follow with whatever else differs. */
async function renamePodsOf(set: StoredSet, context: OperatorContext, signal: AbortSignal): Promise<void> {
  const cliques = context.world.cliques.byIndex('controller', set.metadata.uid)
  const renamed = cliques.filter(clique => isToBeRenamed(set, clique))
  const failures = await Promise.all(renamed.map(clique => renamePods(set, clique, context, signal)))
  if (failures.flat().length) throw new PassFailed(failures.flat())
}

interface ChildComponent<T extends KubeObject> {
  readonly name: string
  readonly code: ErrorCode
  readonly resource: Resource<T>
  readonly kind: ChildKind<T>
  readonly set: StoredSet
  readonly context: OperatorContext
  readonly signal: AbortSignal
  readonly written?: (object: T) => EventValue
  readonly removed?: (object: T) => EventValue
  readonly failed?: (object: T, error: string) => EventValue
}

function childComponent<T extends KubeObject>(part: ChildComponent<T>): Component {
  return { name: part.name, run: () => syncChildren(part) }
}

async function syncChildren<T extends KubeObject>(part: ChildComponent<T>): Promise<void> {
  const { resource, set, signal } = part
  const { client } = part.context.world
  const plan = planChildren(part.kind)
  const tell = (event: EventValue | undefined) => {
    if (event) part.context.events.emit(set, eventSource.podCliqueSet, event)
  }
  const write = (object: T, request: () => Promise<unknown>) => async () => {
    try {
      await request()
      tell(part.written?.(object))
    } catch (error) {
      if (isAlreadyExists(error) && (await hasArrived(client, resource, object, part.kind.ownerUid, signal)))
        return
      tell(part.failed?.(object, textOf(error)))
      throw new CodedError('Sync', part.code, `Error writing ${resource.kind} ${keyOf(object)}`, error)
    }
  }
  const failures = [
    ...plan.taken.map(
      object =>
        new CodedError(
          'Sync',
          part.code,
          `${resource.kind} ${keyOf(object)} exists and is controlled by somebody else; remove it or rename the PodCliqueSet`,
        ),
    ),
    ...(await runAll([
      ...plan.create.map(object => write(object, () => client.create(resource, object, { signal }))),
      ...plan.patch.map(({ object, patch }) =>
        write(object, () => client.patch(resource, refOfObject(object), { merge: patch }, { signal })),
      ),
      ...plan.remove.map(object => async () => {
        try {
          await client.delete(resource, refOfObject(object), {
            signal,
            preconditions: { uid: object.metadata.uid },
          })
          tell(part.removed?.(object))
        } catch (error) {
          if (isNotFound(error)) return
          throw new CodedError('Sync', part.code, `Error deleting ${resource.kind} ${keyOf(object)}`, error)
        }
      }),
    ])),
  ]
  if (failures.length) throw new PassFailed(failures)
}

function refOfObject(object: KubeObject | Stored) {
  const { name = '', namespace = '' } = object.metadata ?? {}
  return { name, namespace }
}
