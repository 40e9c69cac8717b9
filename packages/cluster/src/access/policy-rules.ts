// SPDX-License-Identifier: Apache-2.0

import type { RbacPolicyRule } from '../schema/types.generated.ts'
import type { AccessAttributes } from '../server/authorization.ts'

const all = '*'

/** Reports whether a rule allows the request. */
export function ruleAllows(rule: RbacPolicyRule, attributes: AccessAttributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false
  if (!attributes.isResource) return rule.nonResourceURLs?.some(url => covers(url, attributes.path)) ?? false
  return (
    has(rule.apiGroups, attributes.group) &&
    allowsResource(rule.resources ?? [], attributes.resource, attributes.subresource) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(attributes.name))
  )
}

function allowsResource(resources: readonly string[], resource: string, subresource: string): boolean {
  const wanted = subresource ? `${resource}/${subresource}` : resource
  return resources.some(
    each => each === all || each === wanted || (subresource !== '' && each === `*/${subresource}`),
  )
}

function has(values: readonly string[] | undefined, value: string): boolean {
  return values?.some(each => each === all || each === value) ?? false
}

function covers(owner: string, path: string): boolean {
  return owner === path || (owner.endsWith(all) && path.startsWith(owner.replace(/\*+$/, '')))
}

/** Returns the parts of `wanted` that `held` does not cover, each with one verb and one resource. */
export function missingRules(
  held: readonly RbacPolicyRule[],
  wanted: readonly RbacPolicyRule[],
): RbacPolicyRule[] {
  return wanted.flatMap(atoms).filter(atom => !held.some(rule => ruleCovers(rule, atom)))
}

function atoms(rule: RbacPolicyRule): RbacPolicyRule[] {
  const found: RbacPolicyRule[] = []
  const names = rule.resourceNames?.length ? rule.resourceNames.map(name => [name]) : [undefined]
  for (const group of rule.apiGroups ?? [])
    for (const resource of rule.resources ?? [])
      for (const verb of rule.verbs ?? [])
        for (const resourceNames of names)
          found.push({
            apiGroups: [group],
            resources: [resource],
            verbs: [verb],
            ...(resourceNames && { resourceNames }),
          })
  for (const url of rule.nonResourceURLs ?? [])
    for (const verb of rule.verbs ?? []) found.push({ nonResourceURLs: [url], verbs: [verb] })
  return found
}

/** `atom` has at most one value per field. */
function ruleCovers(rule: RbacPolicyRule, atom: RbacPolicyRule): boolean {
  if (!has(rule.verbs, atom.verbs![0]!)) return false
  const url = atom.nonResourceURLs?.[0]
  if (url !== undefined) return rule.nonResourceURLs?.some(each => covers(each, url)) ?? false
  const name = atom.resourceNames?.[0]
  return (
    has(rule.apiGroups, atom.apiGroups![0]!) &&
    coversResource(rule.resources ?? [], atom.resources![0]!) &&
    (!rule.resourceNames?.length || (name !== undefined && rule.resourceNames.includes(name)))
  )
}

function coversResource(resources: readonly string[], wanted: string): boolean {
  const slash = wanted.indexOf('/')
  return resources.some(
    each => each === all || each === wanted || (slash >= 0 && each === `*${wanted.slice(slash)}`),
  )
}

/** Merges the verbs for the same resources into one rule, for error messages. */
export function compactRules(pieces: readonly RbacPolicyRule[]): RbacPolicyRule[] {
  const compacted: RbacPolicyRule[] = []
  const byThing = new Map<string, RbacPolicyRule>()
  for (const piece of pieces) {
    if (piece.nonResourceURLs) {
      compacted.push(piece)
      continue
    }
    const thing = JSON.stringify([piece.apiGroups, piece.resources, piece.resourceNames])
    const known = byThing.get(thing)
    if (known) known.verbs!.push(...piece.verbs!)
    else byThing.set(thing, { ...piece, verbs: [...piece.verbs!] })
  }
  return [...compacted, ...byThing.values()]
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`, as the API server formats a rule. */
export function describeRule(rule: RbacPolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const shown = parts.filter(([, values]) => values?.length)
  return `{${shown.map(([name, values]) => `${name}:${quoteList(values!)}`).join(', ')}}`
}

/** Formats a list of strings like Go's `%q`. */
export function quoteList(values: readonly string[]): string {
  return `[${values.map(value => JSON.stringify(value)).join(' ')}]`
}
