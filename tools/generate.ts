// SPDX-License-Identifier: Apache-2.0

// `npm run generate` writes every generated file; CI checks that this changes nothing. With `--openapi` it first copies
// the definitions that we use from the OpenAPI documents of the pinned Kubernetes versions, which needs Go. With
// `--manifests` it renders the chart for `grove manifests` afterwards; Helm is built with Go.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { acceptedDifferenceFiles } from '../packages/api/generate/accepted-differences.ts'
import { apiPage } from '../packages/api/generate/api-page.ts'
import { embeddedSchemaFiles } from '../packages/api/generate/embedded-schemas.ts'
import { extractOpenApi } from '../packages/api/generate/extract-openapi.ts'
import { kubernetesTypeFiles } from '../packages/api/generate/kubernetes-types.ts'
import { cliPage } from '../packages/cli/generate/cli-page.ts'
import { pageFiles } from '../packages/dashboard/generate/page-files.ts'
import { readArguments } from './arguments.ts'
import { chartFiles } from './packaging/chart-files.ts'
import { configurePage } from './packaging/configure-page.ts'
import { dashboardFiles } from './packaging/dashboard.ts'
import { monitorPage } from './packaging/monitor-page.ts'
import { pendingPage } from './packaging/pending-page.ts'
import { plainManifests, renderPlainManifests } from './packaging/plain-manifests.ts'
import { rightsPage } from './packaging/rights-page.ts'

const usage = `Usage: npm run generate [-- --openapi] [--manifests]

Writes every generated file. --openapi first copies definitions from the pinned Kubernetes versions. --manifests renders the
Helm chart for grove manifests. Both need Go.`

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
  { name: 'reference of the API', files: apiPage },
  { name: 'reference of the commands', files: cliPage },
  { name: 'Grafana dashboard', files: dashboardFiles },
  { name: 'page of the web dashboard', files: pageFiles },
  { name: 'reference of metrics and alerts', files: monitorPage },
  { name: 'page of the rights', files: rightsPage },
  { name: 'page of the reasons why a gang waits', files: pendingPage },
  { name: 'objects of grove manifests', files: plainManifests },
]

// `npm run` uses tools/run.mjs, which imports this file instead of starting it if possible.
if (import.meta.main || process.argv[1] === import.meta.filename) {
  const root = resolve(import.meta.dirname, '..')
  const { values } = readArguments(usage, {
    options: { openapi: { type: 'boolean' }, manifests: { type: 'boolean' } },
  })
  if (values.openapi) write(root, extractOpenApi())
  for (const generator of generators)
    write(
      root,
      await (values.manifests && generator.files === plainManifests
        ? renderPlainManifests()
        : generator.files()),
    )
}

function write(root: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    console.log(path)
  }
}
