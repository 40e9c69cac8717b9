// SPDX-License-Identifier: Apache-2.0

// Compares a live object with a rendered one. All rendered fields must be present, and fields that the operator owns
// must have no other values.
import type { KubeObject } from '@grove/kube'

/** List entries that other components may add. */
const openLists = new Set(['spec.tolerations', 'spec.volumes', 'spec.metrics'])
/** Maps that the operator owns completely. */
const closedMaps = ['labels', 'annotations'] as const

export function differences(wanted: KubeObject, actual: KubeObject): string[] {
  const { metadata, ...rest } = wanted
  const found = [...covered(rest, actual, '')]
  for (const member of closedMaps) {
    const open = member === 'annotations' && !kindsWithClosedAnnotations.has(wanted.kind ?? '')
    found.push(
      ...sameMap(metadata?.[member] ?? {}, actual.metadata?.[member] ?? {}, `metadata.${member}`, open),
    )
  }
  const owner = (object: KubeObject) =>
    object.metadata?.ownerReferences
      ?.map(({ kind, name, controller }) => `${kind} ${name} ${controller}`)
      .join()
  if (owner(wanted) !== owner(actual)) found.push(`is owned by ${owner(actual)}, not by ${owner(wanted)}`)
  return found
}

const kindsWithClosedAnnotations = new Set(['PodClique', 'PodCliqueScalingGroup', 'PodGang', 'Pod'])

function sameMap(
  wanted: Readonly<Record<string, string>>,
  actual: Readonly<Record<string, string>>,
  path: string,
  open: boolean,
): string[] {
  const keys = new Set([...Object.keys(wanted), ...(open ? [] : Object.keys(actual))])
  return [...keys].flatMap(key =>
    wanted[key] === actual[key] ? [] : [`${path}.${key} is ${actual[key]}, not ${wanted[key]}`],
  )
}

function* covered(wanted: unknown, actual: unknown, path: string): Generator<string> {
  if (path === 'status') return
  if (Array.isArray(wanted) && Array.isArray(actual)) {
    if (wanted.length !== actual.length && !(openLists.has(path) && wanted.length < actual.length))
      yield `${path} has ${actual.length} entries, not ${wanted.length}`
    else for (const [at, value] of wanted.entries()) yield* covered(value, actual[at], `${path}[${at}]`)
  } else if (isObject(wanted) && isObject(actual)) {
    for (const [key, value] of Object.entries(wanted))
      yield* covered(value, actual[key], path ? `${path}.${key}` : key)
  } else if (wanted !== actual && !(isNothing(wanted) && isNothing(actual)))
    yield `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(wanted)}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNothing(value: unknown): boolean {
  return (
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  )
}
