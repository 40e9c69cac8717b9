// SPDX-License-Identifier: Apache-2.0

import { isJsonObject } from '@grove/apimachinery'
import { objectKey } from '../object.ts'
import { selectorMatches } from '../registry/validation/workload.ts'
import { structType } from '../schema/type-table.ts'
import type { Pod, PolicyPodDisruptionBudget } from '../schema/types.generated.ts'
import { jsonAnswer } from '../server/answer.ts'
import { parseBody } from '../server/body.ts'
import type { ServerContext } from '../server/context.ts'
import { deleteObject } from '../server/delete.ts'
import type { DeleteOptions } from '../server/delete-options.ts'
import type { ApiResponse } from '../server/request.ts'
import { type ResourceCall, writeRequestOf } from '../server/resource-call.ts'
import { type ApiError, refuse } from '../server/status.ts'

const budgets = 'poddisruptionbudgets.policy'

const evictionType = structType('policy/v1.Eviction')

/** Seconds after which a client may ask again for a disruption that is not allowed now. */
const retryAfterSeconds = 10

/** Deletes a pod if its disruption budget allows. */
export async function answerEviction(call: ResourceCall): Promise<ApiResponse> {
  const { context, request, resource, info } = call
  const write = writeRequestOf(call)
  const body = parseBody(request, 'Eviction', evictionType).value
  const options = isJsonObject(body.deleteOptions)
    ? (body.deleteOptions as unknown as DeleteOptions)
    : undefined
  const stored = context.store.get(resource.storage, objectKey(info.namespace, info.name))
  if (!stored) throw refuse.notFound(resource, info.name)
  const pod = stored as unknown as Pod
  if (!isDoneOrWaiting(pod)) takeDisruption(context, pod, write.options.dryRun)
  await deleteObject(context, write, { ...options, dryRun: write.options.dryRun })
  return jsonAnswer(201, '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}')
}

/** Pods that serve nobody may go whatever their budget says. */
function isDoneOrWaiting({ metadata, status }: Pod): boolean {
  return (
    ['Succeeded', 'Failed', 'Pending'].includes(status?.phase ?? '') || Boolean(metadata?.deletionTimestamp)
  )
}

function takeDisruption(context: ServerContext, pod: Pod, dryRun: boolean): void {
  const matching = context.store
    .list(budgets, { prefix: `${pod.metadata?.namespace}/` })
    .items.filter(item => {
      const selector = (item as unknown as PolicyPodDisruptionBudget).spec?.selector
      return selector !== undefined && selectorMatches(selector, pod.metadata?.labels ?? {})
    })
  if (matching.length === 0) return
  if (matching.length > 1)
    throw refuse.internal(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  const stored = matching[0]!
  const budget = stored as unknown as PolicyPodDisruptionBudget
  const name = stored.metadata.name!
  if ((budget.status?.disruptionsAllowed ?? 0) <= 0) throw disruptionRefused(budget, name)
  if (dryRun) return
  const disrupted = {
    ...budget.status?.disruptedPods,
    [pod.metadata!.name!]: new Date(context.clock.now()).toISOString().replace(/\.\d+Z/, 'Z'),
  }
  context.store.write(
    budgets,
    objectKey(stored.metadata.namespace, name),
    {
      ...stored,
      metadata: { ...stored.metadata },
      status: {
        ...budget.status,
        disruptionsAllowed: budget.status!.disruptionsAllowed! - 1,
        disruptedPods: disrupted,
      },
    },
    stored,
  )
}

function disruptionRefused(budget: PolicyPodDisruptionBudget, name: string): ApiError {
  const observed = (budget.status?.observedGeneration ?? 0) >= (budget.metadata?.generation ?? 0)
  const message = observed
    ? `The disruption budget ${name} needs ${budget.status?.desiredHealthy ?? 0} healthy pods and has ${budget.status?.currentHealthy ?? 0} currently`
    : `The disruption budget ${name} is still being processed by the server.`
  return refuse.tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(observed ? {} : { retryAfterSeconds }),
  })
}
