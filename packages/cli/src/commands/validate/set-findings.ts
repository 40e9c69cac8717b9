// SPDX-License-Identifier: Apache-2.0

// Findings about names in a set. Admission reports these for the whole set, in messages that other tools match. The
// findings contain the clique or group, and the valid names.
import { type Cause, combinedNameLimit } from '@grove/api'
import { valueAt } from '../../manifests/field-path.ts'
import { isObject } from '../../manifests/manifest-value.ts'
import type { Finding } from './findings.ts'

const cliquesPath = 'spec.template.cliques'
const groupsPath = 'spec.template.podCliqueScalingGroups'

interface Rule {
  /** The message of admission. */
  readonly message: RegExp
  findings(cause: Cause, set: unknown): Finding[]
}

const rules: readonly Rule[] = [
  { message: /^Duplicate value: /, findings: ({ field }, set) => repeated(field, set) },
  {
    message: /unknown clique names found, all clique dependencies must be defined as cliques$/,
    findings: (_, set) => unknownNames(startDependencies(set), set),
  },
  {
    message: /unidentified PodClique names found$/,
    findings: ({ field }, set) => unknownNames(textsOf(set, field), set),
  },
  { message: /: combined resource name length \d+ exceeds /, findings: (_, set) => namesTooLong(set) },
  { message: /clique must not have circular dependencies$/, findings: cycle },
  { message: /AutoScalingConfig is not allowed to be defined for PodClique/, findings: autoscaledMember },
]

/** Returns undefined for causes that do not concern names. */
export function findingsOfSet(cause: Cause, set: unknown): Finding[] | undefined {
  const found = rules.find(({ message }) => message.test(cause.message))?.findings(cause, set) ?? []
  return found.length > 0 ? found : undefined
}

/** A name in the manifest and its path. */
interface Name {
  readonly at: string
  readonly name: string
}

function itemsAt(set: unknown, path: string): unknown[] {
  const list = valueAt(set, path)
  return Array.isArray(list) ? list : []
}

/** The text of a field in every item. Absent fields count as empty. */
function textsAt(set: unknown, list: string, field: string): Name[] {
  return itemsAt(set, list).map((item, index) => ({
    at: `${list}[${index}].${field}`,
    name: String(valueAt(item, field) ?? ''),
  }))
}

/** The texts of a list field in every item. */
function listsAt(set: unknown, list: string, field: string): Name[] {
  return itemsAt(set, list).flatMap((_, index) => textsOf(set, `${list}[${index}].${field}`))
}

function textsOf(set: unknown, path: string): Name[] {
  return itemsAt(set, path).map((name, index) => ({ at: `${path}[${index}]`, name: String(name) }))
}

const cliqueNames = (set: unknown) => textsAt(set, cliquesPath, 'name')
const groupNames = (set: unknown) => textsAt(set, groupsPath, 'name')
const startDependencies = (set: unknown) => listsAt(set, cliquesPath, 'spec.startsAfter')
const membersOf = (set: unknown) => listsAt(set, groupsPath, 'cliqueNames')

/** Paths of all names that a uniqueness rule compares. */
function namesOfRule(field: string, set: unknown): Name[] {
  switch (field) {
    case `${cliquesPath}.name`:
      return cliqueNames(set)
    case `${cliquesPath}.roleName`:
      return textsAt(set, cliquesPath, 'spec.roleName')
    case `${groupsPath}.name`:
      return groupNames(set)
    case `${groupsPath}.cliqueNames`:
      return membersOf(set)
    case 'spec.template.resourceClaimTemplates.name':
      return textsAt(set, 'spec.template.resourceClaimTemplates', 'name')
    default:
      return field.endsWith('.spec.startsAfter') ? textsOf(set, field) : []
  }
}

function repeated(field: string, set: unknown): Finding[] {
  const byName = Map.groupBy(namesOfRule(field, set), ({ name }) => name)
  return [...byName].flatMap(([name, places]): Finding[] => {
    if (places.length < 2) return []
    if (name === '') return places.map(({ at }) => ({ text: `${at}: Required value`, at }))
    const [first, ...others] = places
    return others.map(({ at }) => ({
      text: `${at}: Duplicate value: ${JSON.stringify(name)}`,
      at,
      first: first!.at,
    }))
  })
}

function unknownNames(names: readonly Name[], set: unknown): Finding[] {
  const known = cliqueNames(set).map(({ name }) => name)
  return names
    .filter(({ name }) => !known.includes(name))
    .map(({ at, name }) => ({
      text: `${at}: Invalid value: ${JSON.stringify(name)}: no clique has this name; ${known.length > 0 ? `the cliques are ${listed(known)}` : 'the set has no cliques'}`,
      at,
    }))
}

/** As many names as fit into two lines of a terminal. */
const listedNames = 8

function listed(names: readonly string[]): string {
  const more = names.length - listedNames
  return `${names.slice(0, listedNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Pod names contain several names. The longest name of each combination should be shortened. */
function namesTooLong(set: unknown): Finding[] {
  const own: Name = { at: 'metadata.name', name: String(valueAt(set, 'metadata.name') ?? '') }
  const groups = groupNames(set)
  const members = groups.flatMap((group, index) =>
    textsOf(set, `${groupsPath}[${index}].cliqueNames`).map(member => [own, group, member]),
  )
  const inGroups = new Set(members.map(([, , member]) => member!.name))
  const standalone = cliqueNames(set).filter(({ name }) => !inGroups.has(name))
  const tooLong = [...standalone.map(clique => [own, clique]), ...members].filter(
    names => lengthOf(names) > combinedNameLimit,
  )
  const byLongest = Map.groupBy(tooLong, names => names.toSorted((a, b) => size(b) - size(a))[0]!.at)
  return [...byLongest.values()].map(combinations => {
    const worst = combinations.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0]!
    return nameTooLong(worst)
  })
}

function nameTooLong(names: readonly Name[]): Finding {
  const longest = names.toSorted((a, b) => size(b) - size(a))[0]!
  const others = names.filter(({ at }) => at !== longest.at)
  const room = combinedNameLimit - lengthOf(others)
  const together = `together with ${others.map(({ name }) => JSON.stringify(name)).join(' and ')} it is part of pod names, where these names may have ${combinedNameLimit} characters, not ${lengthOf(names)}`
  return {
    text: `${longest.at}: Invalid value: ${JSON.stringify(longest.name)}: too long: ${together}`,
    at: longest.at,
    advice: room > 0 ? `use at most ${room} characters` : 'shorten all of these names',
  }
}

function lengthOf(names: readonly Name[]): number {
  return names.reduce((sum, name) => sum + size(name), 0)
}

function size({ name }: Name): number {
  return Buffer.byteLength(name, 'utf8')
}

/** The finding is at the `startsAfter` of a clique of the cycle. */
function cycle({ field, message }: Cause, set: unknown): Finding[] {
  const member = cliqueNames(set).find(({ name }) => message.includes(JSON.stringify(name)))
  return member ? [{ text: `${field}: ${message}`, at: member.at.replace(/name$/, 'spec.startsAfter') }] : []
}

function autoscaledMember({ field, message }: Cause, set: unknown): Finding[] {
  const clique = itemsAt(set, cliquesPath).findIndex(
    item => isObject(item) && message.includes(JSON.stringify(item.name ?? '')),
  )
  return clique < 0
    ? []
    : [{ text: `${field}: ${message}`, at: `${cliquesPath}[${clique}].spec.autoScalingConfig` }]
}
