// SPDX-License-Identifier: Apache-2.0

import { type ObjectOf, objectKey, type WithMetadata } from '../object.ts'
import { storages } from '../registry/storages.ts'
import { selectorMatches } from '../registry/validation/workload.ts'
import { structType } from '../schema/type-table.ts'
import type { Pod, PolicyEviction, PolicyPodDisruptionBudget } from '../schema/types.generated.ts'
import { parseBodyAs } from '../server/body.ts'
import { type ServerContext, timestamp } from '../server/context.ts'
import { deleteObject } from '../server/delete.ts'
import type { DeleteOptions } from '../server/delete-options.ts'
import type { ApiResponse } from '../server/request.ts'
import { type ResourceCall, writeRequestOf } from '../server/resource-call.ts'
import { jsonResponse } from '../server/response.ts'
import { type ApiError, apiError } from '../server/status.ts'

const evictionType = structType('policy/v1.Eviction')

/** The Retry-After of a disruption that the budget does not allow now. */
const retryAfterSeconds = 10

/** Deletes a pod if its disruption budget allows. */
export async function handleEviction(call: ResourceCall): Promise<ApiResponse> {
  const { context, request, resource, info } = call
  const write = writeRequestOf(call)
  const body = parseBodyAs<PolicyEviction>(request, 'Eviction', evictionType)
  if (body.metadata?.name && body.metadata.name !== info.name)
    throw apiError.badRequest('name in URL does not match name in Eviction object')
  const options = body.deleteOptions as DeleteOptions | undefined
  const dryRun = write.options.dryRun || Boolean(body.deleteOptions?.dryRun?.length)
  const pod = context.store.get(storages.pods, objectKey(info.namespace, info.name))
  if (!pod) throw apiError.notFound(resource, info.name)
  if (!isExempt(pod)) useDisruption(context, pod, dryRun)
  if (!dryRun && isWanted(pod, options)) addDisruptionCondition(context, pod)
  await deleteObject(context, write, { ...options, dryRun })
  return jsonResponse(201, '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}')
}

/** Reports whether the preconditions of the eviction match the pod. */
function isWanted({ metadata }: WithMetadata, options: DeleteOptions | undefined): boolean {
  const { uid, resourceVersion } = options?.preconditions ?? {}
  return (uid ?? metadata.uid) === metadata.uid && resourceVersion === undefined
}

/** Adds the DisruptionTarget condition, so that watchers see the reason of the deletion. */
function addDisruptionCondition({ store, clock }: ServerContext, pod: ObjectOf<Pod>): void {
  const { status } = pod
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(clock.now()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  }
  const others = (status?.conditions ?? []).filter(({ type }) => type !== condition.type)
  if (others.length < (status?.conditions ?? []).length) return
  const draft = {
    ...pod,
    metadata: { ...pod.metadata },
    status: { ...status, conditions: [...others, condition] },
  }
  store.write(storages.pods, objectKey(pod.metadata.namespace, pod.metadata.name!), draft, pod)
}

/** Pods that are finished, pending or terminating are evicted regardless of the budget. */
function isExempt({ metadata, status }: Pod): boolean {
  return (
    ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '') || Boolean(metadata?.deletionTimestamp)
  )
}

function isReady({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(each => each.type === 'Ready' && each.status === 'True')
}

/** An unhealthy pod does not count if enough pods are healthy, or if the budget always allows it. */
function isUnhealthyAllowed(pod: Pod, { spec, status }: PolicyPodDisruptionBudget): boolean {
  if (isReady(pod)) return false
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return (
    spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' ||
    (currentHealthy >= desiredHealthy && desiredHealthy > 0)
  )
}

function useDisruption(context: ServerContext, pod: Pod, dryRun: boolean): void {
  const matching = context.store
    .list(storages.disruptionBudgets, { prefix: `${pod.metadata?.namespace}/` })
    .items.filter(({ spec }) => {
      const selector = spec?.selector
      return selector !== undefined && selectorMatches(selector, pod.metadata?.labels ?? {})
    })
  if (matching.length === 0) return
  if (matching.length > 1)
    throw apiError.unexpected(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  const budget = matching[0]!
  const name = budget.metadata.name!
  if (isUnhealthyAllowed(pod, budget)) return
  const allowed = budget.status?.disruptionsAllowed ?? 0
  if (!isObserved(budget) || allowed <= 0) throw disruptionRejected(budget, name)
  if (dryRun) return
  context.store.write(
    storages.disruptionBudgets,
    objectKey(budget.metadata.namespace, name),
    { ...budget, metadata: { ...budget.metadata }, status: statusAfter(budget, pod, context.clock.now()) },
    budget,
  )
}

function statusAfter(budget: PolicyPodDisruptionBudget, pod: Pod, now: number): object {
  const { disruptionsAllowed = 0, disruptedPods, conditions = [] } = budget.status ?? {}
  const exhausted = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: budget.status?.observedGeneration,
    lastTransitionTime: timestamp(now),
    reason: 'InsufficientPods',
    message: '',
  }
  return {
    ...budget.status,
    disruptionsAllowed: disruptionsAllowed - 1,
    disruptedPods: { ...disruptedPods, [pod.metadata!.name!]: timestamp(now) },
    ...(disruptionsAllowed === 1 && {
      conditions: [...conditions.filter(({ type }) => type !== exhausted.type), exhausted],
    }),
  }
}

function isObserved({ metadata, status }: PolicyPodDisruptionBudget): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0)
}

function disruptionRejected(budget: PolicyPodDisruptionBudget, name: string): ApiError {
  const observed = isObserved(budget)
  const message = observed
    ? `The disruption budget ${name} needs ${budget.status?.desiredHealthy ?? 0} healthy pods and has ${budget.status?.currentHealthy ?? 0} currently`
    : `The disruption budget ${name} is still being processed by the server.`
  return apiError.tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(observed ? {} : { retryAfterSeconds }),
  })
}
