// SPDX-License-Identifier: Apache-2.0

import { generationHash, legacyGenerationHash, legacyPodTemplateHash, podTemplateHash } from '@grove/api'
import { clusterOf } from '../manifests/cluster-from-manifests.ts'
import { readConfigurationFile } from '../manifests/configuration-file.ts'
import { readManifestsOf } from '../manifests/manifest-folders.ts'
import { isObject } from '../manifests/manifest-value.ts'
import { setsAmong, storedOrGiven } from '../manifests/set-manifest.ts'
import { printJson, printLines } from '../terminal/print.ts'

export interface SetHashes {
  readonly name: string
  readonly generationHash: string
  readonly cliques: Readonly<Record<string, string>>
}

export async function hash(options: {
  filename: string[]
  config?: string
  legacy?: boolean
  output: string
}): Promise<void> {
  const configuration = await readConfigurationFile(options.config)
  const documents = await readManifestsOf(options.filename)
  const cluster = clusterOf(documents)
  const hashes = setsAmong(documents).map(document =>
    hashesOf(storedOrGiven(document, configuration, cluster), options.legacy ?? false),
  )
  if (options.output === 'json') printJson(hashes)
  else printLines(hashes.flatMap(asLines))
}

type SetLike = { readonly metadata?: unknown; readonly spec?: unknown }

function hashesOf(set: SetLike, legacy: boolean): SetHashes {
  const spec = isObject(set.spec) ? set.spec : {}
  const template = isObject(spec.template) ? spec.template : {}
  const cliques = Array.isArray(template.cliques) ? template.cliques.filter(isObject) : []
  const hashClique = legacy ? legacyPodTemplateHash : podTemplateHash
  return {
    name: isObject(set.metadata) ? String(set.metadata.name ?? '') : '',
    generationHash: (legacy ? legacyGenerationHash : generationHash)(spec),
    cliques: Object.fromEntries(cliques.map(clique => [String(clique.name), hashClique(template, clique)])),
  }
}

function asLines({ name, generationHash, cliques }: SetHashes): string[] {
  const width =
    Math.max(...[name, ...Object.keys(cliques).map(clique => `  ${clique}`)].map(text => text.length)) + 2
  return [
    `${name.padEnd(width)}${generationHash}`,
    ...Object.entries(cliques).map(([clique, value]) => `${`  ${clique}`.padEnd(width)}${value}`),
  ]
}
