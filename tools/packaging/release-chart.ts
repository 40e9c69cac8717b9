// SPDX-License-Identifier: Apache-2.0

// `npm run chart -- --registry REGISTRY --version VERSION` writes the chart of a release into dist/chart: with the
// images of that registry, and the version as chart version, app version and default tag.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseDocument } from 'yaml'
import { type Release, repositoriesOf } from '../../packages/cli/src/install/release.ts'
import { readArguments, rejectArguments } from '../arguments.ts'

const root = resolve(import.meta.dirname, '../..')

const usage = `Usage: npm run chart -- --registry REGISTRY --version VERSION [--out FOLDER]

Writes the chart of a release. Default folder: dist/chart. Its images are REGISTRY/grove-operator and REGISTRY/grove-initc.`

export function writeReleaseChart(release: Release, folder: string): void {
  const { version } = release
  const { operator, waiter } = repositoriesOf(release)
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(root, 'charts/grove'), folder, { recursive: true })
  edit(join(folder, 'Chart.yaml'), [
    [['version'], version],
    [['appVersion'], version],
  ])
  edit(join(folder, 'values.yaml'), [
    [['image', 'repository'], operator],
    [['deployment', 'env', 0, 'value'], waiter],
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
