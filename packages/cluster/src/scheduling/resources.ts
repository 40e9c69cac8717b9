// SPDX-License-Identifier: Apache-2.0

// Requests of pods and capacities of nodes as numbers: millicores for cpu, units or bytes for other
// resources.

import { parseQuantity, quantityValue } from '@grove/apimachinery'
import type { Container, PodSpec, ResourceRequirements } from '../schema/types.generated.ts'

export type Amounts = ReadonlyMap<string, number>

/** A cache, because many pods use few distinct quantities. */
const amountsByText = new Map<string, number>()
const rememberedTexts = 10_000

/** Returns the amount in the unit of the resource. Invalid quantities count as 0. */
export function amountOf(resource: string, quantity: string | number): number {
  const key = `${resource === 'cpu' ? 'm' : ' '}${quantity}`
  const known = amountsByText.get(key)
  if (known !== undefined) return known
  const amount = parseAmount(resource, String(quantity))
  if (amountsByText.size >= rememberedTexts) amountsByText.clear()
  amountsByText.set(key, amount)
  return amount
}

function parseAmount(resource: string, text: string): number {
  try {
    return Number(quantityValue(parseQuantity(text), resource === 'cpu' ? -3 : 0))
  } catch {
    return 0
  }
}

export function amountsOf(list: Readonly<Record<string, string>> | undefined): Map<string, number> {
  const amounts = new Map<string, number>()
  for (const resource in list) amounts.set(resource, amountOf(resource, list[resource]!))
  return amounts
}

/**
 * The requests of a pod: the sum of containers and sidecars, or the largest init container plus the sidecars
 * before it, if that is more. Pod-level requests take precedence. Overhead is added.
 */
export function podRequests(spec: PodSpec | undefined): Map<string, number> {
  const total = new Map<string, number>()
  for (const container of spec?.containers ?? []) addTo(total, containerRequests(container))
  const sidecars = new Map<string, number>()
  const initial = new Map<string, number>()
  for (const container of spec?.initContainers ?? []) {
    const requests = containerRequests(container)
    if (container.restartPolicy === 'Always') {
      addTo(total, requests)
      addTo(sidecars, requests)
      raiseTo(initial, sidecars)
    } else {
      addTo(requests, sidecars)
      raiseTo(initial, requests)
    }
  }
  raiseTo(total, initial)
  for (const [resource, amount] of requirementAmounts(spec?.resources)) total.set(resource, amount)
  addTo(total, amountsOf(spec?.overhead))
  return total
}

function containerRequests({ resources }: Container): Map<string, number> {
  return requirementAmounts(resources)
}

/** Requests default to limits. The API server does the same, but tests use objects without its defaults. */
function requirementAmounts(resources: ResourceRequirements | undefined): Map<string, number> {
  const amounts = amountsOf(resources?.limits)
  for (const [resource, amount] of amountsOf(resources?.requests)) amounts.set(resource, amount)
  return amounts
}

export function addTo(target: Map<string, number>, amounts: Amounts, sign: 1 | -1 = 1): void {
  for (const [resource, amount] of amounts) target.set(resource, (target.get(resource) ?? 0) + sign * amount)
}

function raiseTo(target: Map<string, number>, amounts: Amounts): void {
  for (const [resource, amount] of amounts)
    if (amount > (target.get(resource) ?? 0)) target.set(resource, amount)
}

/** The requests that scores assume for pods without requests, so that such pods are spread too. */
export const assumedRequests: Amounts = new Map([
  ['cpu', 100],
  ['memory', 200 * 1024 * 1024],
])

export type QualityOfService = 'Guaranteed' | 'Burstable' | 'BestEffort'

/** Guaranteed if every container has equal requests and limits for cpu and memory. */
export function qualityOfService(spec: PodSpec | undefined): QualityOfService {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]
  let asked = false
  let guaranteed = true
  for (const { resources } of spec?.resources ? [spec] : containers) {
    for (const resource of ['cpu', 'memory']) {
      const limit = amountOf(resource, resources?.limits?.[resource] ?? 0)
      const request = amountOf(
        resource,
        resources?.requests?.[resource] ?? resources?.limits?.[resource] ?? 0,
      )
      if (limit > 0 || request > 0) asked = true
      if (limit === 0 || limit !== request) guaranteed = false
    }
  }
  return !asked ? 'BestEffort' : guaranteed ? 'Guaranteed' : 'Burstable'
}
