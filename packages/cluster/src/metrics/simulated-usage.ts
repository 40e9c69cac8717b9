// SPDX-License-Identifier: Apache-2.0

// The CPU and memory that a simulated container uses.
import { amountOf } from '../scheduling/resources.ts'
import type { Container } from '../schema/types.generated.ts'

/** Prefix of annotations that set simulated values. */
export const simulatePrefix = 'simulate.grove.io/'

/** The part of its request that a simulated container uses, unless an annotation sets another value. */
const usedShare = 0.5

interface Annotated {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
}

interface PodLike {
  readonly spec?: { readonly containers?: readonly Container[] }
}

/**
 * The usage in the annotations of a pod, for one of its containers, or of an autoscaler for each of its pods.
 * Undefined if there is no annotation.
 */
export function annotatedUsage(object: Annotated, resource: string, container?: string): number | undefined {
  const { annotations } = object.metadata ?? {}
  const own = container && annotations?.[`${simulatePrefix}usage.${resource}.${container}`]
  const text = own ?? annotations?.[`${simulatePrefix}usage.${resource}`]
  return text === undefined ? undefined : amountOf(resource, text)
}

/** Half of the request of the container, or of all containers of the pod. Undefined without a request. */
export function assumedUsage(pod: PodLike, resource: string, container?: string): number | undefined {
  const requests = (pod.spec?.containers ?? [])
    .filter(({ name }) => container === undefined || name === container)
    .flatMap(({ resources }) => resources?.requests?.[resource] ?? resources?.limits?.[resource] ?? [])
  if (requests.length === 0) return undefined
  return requests.reduce((sum, quantity) => sum + amountOf(resource, quantity), 0) * usedShare
}
