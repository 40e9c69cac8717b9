// SPDX-License-Identifier: Apache-2.0
import type { Container, Pod, PodSpec, ResourceRequirements } from '@grove/api'
import { QuantityError, quantityValue, readQuantity } from '@grove/apimachinery'
import { sortedRecord } from '../order.ts'
import type { Amounts } from '../types.ts'

type Mutable = Record<string, number>

/** Resources that `spec.resources` sets for the pod as a whole. */
const podLevelResource = /^(cpu|memory|hugepages-.+)$/

/** Larger amounts are not exact numbers. No pod with a larger request fits on any node. */
export const mostOnNode = 2 ** 51
const mostRequested = 2 ** 52

/** Reads quantities as whole units, cpu in thousandths, rounded up. Unreadable quantities are left out. */
export function readAmounts(
  quantities: Readonly<Record<string, unknown>> | undefined,
  most = mostRequested,
): Mutable {
  const amounts: Mutable = {}
  for (const [name, value] of Object.entries(quantities ?? {})) {
    const quantity = readQuantity(value)
    if (quantity instanceof QuantityError) continue
    amounts[name] = Math.min(Number(quantityValue(quantity, name === 'cpu' ? -3 : 0)), most)
  }
  return amounts
}

/** Paths of quantities that cannot be read. The API server rejects them; a manifest may still have them. */
export function unreadableRequests(spec: PodSpec): string[] {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  const lists = [
    ...containers.flatMap(({ resources }) => [resources?.requests, resources?.limits]),
    spec.resources?.requests,
    spec.resources?.limits,
    spec.overhead,
  ]
  return lists.flatMap(quantities =>
    Object.entries(quantities ?? {})
      .filter(([, value]) => readQuantity(value) instanceof QuantityError)
      .map(([name, value]) => `quantity ${JSON.stringify(value)} of ${name}`),
  )
}

/** Requests of one container. A limit without a request is the request, as the API server defaults it. */
function requestsOf(resources: ResourceRequirements | undefined): Mutable {
  return { ...readAmounts(resources?.limits), ...readAmounts(resources?.requests) }
}

function add(target: Mutable, amounts: Amounts): void {
  for (const [name, amount] of Object.entries(amounts)) target[name] = (target[name] ?? 0) + amount
}

function raise(target: Mutable, amounts: Amounts): void {
  for (const [name, amount] of Object.entries(amounts)) target[name] = Math.max(target[name] ?? 0, amount)
}

/**
 * Returns the effective requests of a pod as the kubelet admits them. They are the larger of two sums, plus overhead: all
 * containers with all sidecars, or one init container with the sidecars started before it. Each pod requests one `pods`.
 */
export function podRequests(spec: PodSpec): Amounts {
  const total: Mutable = {}
  for (const container of spec.containers ?? []) add(total, requestsOf(container.resources))
  const sidecars: Mutable = {}
  const peak: Mutable = {}
  for (const container of spec.initContainers ?? []) {
    const requests = requestsOf(container.resources)
    if (isSidecar(container)) {
      add(sidecars, requests)
      raise(peak, sidecars)
    } else {
      const running: Mutable = { ...sidecars }
      add(running, requests)
      raise(peak, running)
    }
  }
  add(total, sidecars)
  raise(total, peak)
  for (const [name, amount] of Object.entries(requestsOf(spec.resources)))
    if (podLevelResource.test(name)) total[name] = amount
  add(total, readAmounts(spec.overhead))
  total.pods = 1
  return sortedRecord(
    Object.fromEntries(
      Object.entries(total)
        .filter(([, amount]) => amount > 0)
        .map(([name, amount]) => [name, Math.min(amount, mostRequested)]),
    ),
  )
}

function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always'
}

/** Reports whether the pod holds resources of its node. A terminating pod does, until it is gone. */
export function holdsResources(pod: Pod): boolean {
  return pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed'
}
