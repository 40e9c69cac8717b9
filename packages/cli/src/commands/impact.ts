// SPDX-License-Identifier: Apache-2.0

import {
  admit,
  type CliqueImpact,
  defaultConfiguration,
  describeFieldChange,
  emptyCluster,
  type Impact,
  impact as impactOf,
} from '@grove/api'
import { CommandError } from '../command-error.ts'
import { type ManifestDocument, readManifests } from '../manifests/manifest.ts'
import { isObject } from '../manifests/manifest-value.ts'
import { setsAmong } from '../manifests/set-manifest.ts'
import { printJson, printLines, printNote } from '../terminal/print.ts'

type SetLike = Readonly<Record<string, unknown>>

export interface SetImpact extends Impact {
  readonly name: string
}

/** With `--exit-code` the exit code is 1 if pods restart, so that a pipeline can check an edit before it applies it. */
export async function impact(options: {
  old: string
  filename: string
  exitCode?: boolean
  output: string
}): Promise<number> {
  const before = new Map((await setsIn(options.old)).map(set => [nameOf(set), set]))
  const impacts = (await setsIn(options.filename)).map((after): SetImpact => {
    const old = before.size === 1 ? [...before.values()][0] : before.get(nameOf(after))
    if (!old) throw new CommandError(`${options.old} contains no PodCliqueSet named ${nameOf(after)}`)
    // A renamed set is no edit of the old one, which keeps its pods.
    if (nameOf(old) !== nameOf(after))
      printNote(
        `note: PodCliqueSet ${nameOf(after)} is compared with ${nameOf(old)}; applying it creates another set`,
      )
    return { name: nameOf(after), ...impactOf(old, after) }
  })
  if (options.output === 'json') printJson(impacts)
  else printLines(impacts.flatMap(impactLines))
  return options.exitCode && impacts.some(one => one.restarts) ? 1 : 0
}

async function setsIn(path: string): Promise<SetLike[]> {
  return setsAmong(await readManifests([path])).map(readableSet)
}

/**
 * Rejects a set that the API server cannot decode, because its comparison would be meaningless. The rules of admission
 * are not evaluated: they need the configuration and the objects of the cluster, and do not change what restarts.
 */
function readableSet(document: ManifestDocument): SetLike {
  const { source, line, value } = document
  const response = admit(
    { operation: 'CREATE', kind: 'PodCliqueSet', object: value },
    { configuration: defaultConfiguration(), cluster: emptyCluster },
  )
  if (!response.allowed && response.reason !== 'Forbidden')
    throw new CommandError(`${source}:${line}: ${response.message ?? 'rejected by admission'}`)
  for (const warning of response.warnings.filter(text => text.startsWith('unknown field')))
    printNote(`warning: ${source}:${line}: ${warning}`)
  return value as SetLike
}

function nameOf(set: SetLike): string {
  return isObject(set.metadata) ? String(set.metadata.name ?? '') : ''
}

export function impactLines({ name, restarts, cliques, other }: SetImpact): string[] {
  const touched = cliques.filter(clique => clique.outcome !== 'unchanged')
  return [
    restarts
      ? `${name}: pods of ${listed(cliques.filter(clique => clique.restarts).map(clique => clique.name))} restart`
      : `${name}: no pods restart`,
    ...touched.flatMap(cliqueLines),
    ...(other.length ? ['  changes without a restart:'] : []),
    ...other.map(change => `    ${describeFieldChange(change)}`),
  ]
}

function cliqueLines({ name, outcome, because }: CliqueImpact): string[] {
  return [
    `  ${name} ${outcome}${because.length ? ' because of' : ''}`,
    ...because.map(change => `    ${describeFieldChange(change)}`),
  ]
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
