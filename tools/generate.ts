// SPDX-License-Identifier: Apache-2.0

// `npm run generate` writes every generated file; CI checks that this changes nothing. With `--openapi` it first copies
// the definitions that we use from the OpenAPI documents of the pinned Kubernetes versions, which needs Go.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { acceptedDifferenceFiles } from '../packages/api/generate/accepted-differences.ts'
import { embeddedSchemaFiles } from '../packages/api/generate/embedded-schemas.ts'
import { extractOpenApi } from '../packages/api/generate/extract-openapi.ts'
import { kubernetesTypeFiles } from '../packages/api/generate/kubernetes-types.ts'
import { readArguments } from './arguments.ts'
import { chartFiles } from './packaging/chart-files.ts'
import { configurePage } from './packaging/configure-page.ts'

const usage = `Usage: npm run generate [-- --openapi]

Writes every generated file. --openapi first copies definitions from the pinned Kubernetes versions, which needs Go.`

/** Generates files from the repository; needs only Node. Paths are relative to the root. */
export interface Generator {
  readonly name: string
  files(): Promise<Record<string, string>> | Record<string, string>
}

export const generators: readonly Generator[] = [
  { name: 'types of Kubernetes', files: kubernetesTypeFiles },
  { name: 'schemas that the CRDs embed', files: embeddedSchemaFiles },
  { name: 'accepted differences of the CRDs', files: acceptedDifferenceFiles },
  { name: 'data of the Helm chart', files: chartFiles },
  { name: 'reference of the operator configuration', files: configurePage },
]

// `npm run` comes through tools/run.mjs, which imports this file instead of starting it where it can.
if (import.meta.main || process.argv[1] === import.meta.filename) {
  const root = resolve(import.meta.dirname, '..')
  const { values } = readArguments(usage, { options: { openapi: { type: 'boolean' } } })
  if (values.openapi) write(root, extractOpenApi())
  for (const generator of generators) write(root, await generator.files())
}

function write(root: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    console.log(path)
  }
}
