// SPDX-License-Identifier: Apache-2.0
import { formatQuantity, quantityOf } from '@grove/apimachinery'
import type { Scope } from '../planner/scopes.ts'
import type { Amounts, DomainName } from '../types.ts'

const mostNames = 3

export function amountText(resource: string, amount: number): string {
  if (resource === 'cpu') return amount % 1000 === 0 ? String(amount / 1000) : `${amount}m`
  const isBytes =
    resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')
  return isBytes ? formatQuantity(quantityOf(amount, 'BinarySI')) : String(amount)
}

export function amountsText(amounts: Amounts): string {
  const parts = Object.entries(amounts).map(([name, amount]) => `${amountText(name, amount)} ${name}`)
  return parts.length > 0 ? parts.join(', ') : 'nothing'
}

export function namesText(names: readonly string[]): string {
  if (names.length === 0) return 'no nodes'
  const shown = names.slice(0, mostNames).join(', ')
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown
}

export function podsText(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`
}

export function scopeText({ kind, name }: Pick<Scope, 'kind' | 'name'>): string {
  if (kind === 'podGroup') return `PodClique ${name}`
  return kind === 'groupConfig' ? `group ${name}` : `PodGang ${name}`
}

export function domainText(domain: DomainName): string {
  return Object.values(domain).join('/')
}
