// SPDX-License-Identifier: Apache-2.0

// Writes src/schema/*.generated.*: the built-in Kubernetes types as data. Needs Go for its module proxy. Run
// `node packages/cluster/generate/main.ts` when the Kubernetes version changes.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseGoTypes } from './go-types.ts'
import { renderInterfaces, tabulate } from './type-table.ts'

const kubernetes = 'v0.37.1'
const groupVersions = [
  'admissionregistration/v1',
  'apps/v1',
  'authentication/v1',
  'authorization/v1',
  'autoscaling/v1',
  'autoscaling/v2',
  'batch/v1',
  'coordination/v1',
  'core/v1',
  'discovery/v1',
  'events/v1',
  'networking/v1',
  'node/v1',
  'policy/v1',
  'rbac/v1',
  'resource/v1',
  'scheduling/v1',
  'scheduling/v1alpha3',
  'storage/v1',
]

const folder = 'packages/cluster/src/schema'

/** The generated files, by path from the repository root. */
export function typeTableFiles(): Record<string, string> {
  const api = moduleFolder('k8s.io/api')
  const extensions = moduleFolder('k8s.io/apiextensions-apiserver')
  const sources = new Map(groupVersions.map(name => [name, read(api, name, 'types.go')]))
  sources.set('meta/v1', read(moduleFolder('k8s.io/apimachinery'), 'pkg/apis/meta/v1/types.go'))
  sources.set(
    'apiextensions/v1',
    read(extensions, 'pkg/apis/apiextensions/v1/types.go') +
      read(extensions, 'pkg/apis/apiextensions/v1/types_jsonschema.go'),
  )
  const table = tabulate(new Map([...sources].map(([name, source]) => [name, parseGoTypes(source)])))
  return {
    [`${folder}/types.generated.json`]: `${JSON.stringify(table)}\n`,
    [`${folder}/types.generated.ts`]: renderInterfaces(table),
  }
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, '../../..')
  for (const [path, text] of Object.entries(typeTableFiles())) {
    writeFileSync(join(root, path), text)
    console.log(path)
  }
}

function moduleFolder(path: string): string {
  const output = execFileSync('go', ['mod', 'download', '-json', `${path}@${kubernetes}`], {
    encoding: 'utf8',
  })
  return (JSON.parse(output) as { Dir: string }).Dir
}

function read(...path: string[]): string {
  return readFileSync(join(...path), 'utf8')
}
