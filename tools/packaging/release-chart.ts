// SPDX-License-Identifier: Apache-2.0

// `npm run chart -- --registry REGISTRY --version VERSION` writes the chart of a release into dist/chart: with the
// images of that registry, and the version as chart version, app version and default tag.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { readArguments, rejectArguments } from '../arguments.ts'

const root = resolve(import.meta.dirname, '../..')

const usage = `Usage: npm run chart -- --registry REGISTRY --version VERSION [--out FOLDER]

Writes the chart of a release. Default folder: dist/chart. Its images are REGISTRY/grove-operator and REGISTRY/grove-initc.`

export interface Release {
  /** Where the images are, without their names: `registry.example/grove`. */
  readonly registry: string
  /** The tag of the release, for instance `v0.1.0`. */
  readonly version: string
}

export function writeReleaseChart({ registry, version }: Release, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(root, 'charts/grove'), folder, { recursive: true })
  edit(join(folder, 'Chart.yaml'), [
    [['version'], version],
    [['appVersion'], version],
  ])
  edit(join(folder, 'values.yaml'), [
    [['image', 'repository'], `${registry}/grove-operator`],
    [['deployment', 'env', 0, 'value'], `${registry}/grove-initc`],
  ])
}

/** Sets values in a YAML file and keeps its comments. Throws when there is no value to replace. */
function edit(file: string, changes: readonly (readonly [readonly (string | number)[], string])[]): void {
  const document = parseDocument(readFileSync(file, 'utf8'))
  for (const [path, value] of changes) {
    if (!document.hasIn(path)) throw new Error(`${file} has no value ${path.join('.')}`)
    document.setIn(path, value)
  }
  writeFileSync(file, document.toString({ lineWidth: 0 }))
}

if (import.meta.main || process.argv[1] === import.meta.filename) {
  const { values } = readArguments(usage, {
    options: { registry: { type: 'string' }, version: { type: 'string' }, out: { type: 'string' } },
  })
  const { registry, version } = values
  if (!registry || !version) rejectArguments('--registry and --version are required', usage)
  writeReleaseChart({ registry, version }, resolve(values.out ?? join(root, 'dist/chart')))
}
