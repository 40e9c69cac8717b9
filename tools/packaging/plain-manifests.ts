// SPDX-License-Identifier: Apache-2.0

// The objects that the Helm chart renders with its default values, as data of `grove manifests`. Only Helm can render
// the chart, and it is built with Go. The file therefore records the sources of the chart: `npm run check` reports a
// file that belongs to other sources, and `npm run generate -- --manifests` renders it.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { buildHelm } from '@grove/test-kubernetes'
import { parseAllDocuments } from 'yaml'

const root = resolve(import.meta.dirname, '../..')
const chart = join(root, 'charts/grove')
const path = 'packages/cli/src/install/chart.generated.json'

/** The release that the manifests belong to. `grove manifests` replaces the namespace. */
const release = { name: 'grove-operator', namespace: 'grove-system' }

export async function renderPlainManifests(): Promise<Record<string, string>> {
  const helm = await buildHelm()
  const args = ['template', release.name, chart, '--namespace', release.namespace, '--skip-tests']
  const { code, stdout, stderr } = await helm.run(args)
  if (code !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}`)
  const objects = parseAllDocuments(stdout)
    .map(document => document.toJS() as unknown)
    .filter(object => object !== null)
  return { [path]: `${JSON.stringify({ sources: sourcesHash(), ...release, objects }, null, 2)}\n` }
}

/** Returns the present file, if it was rendered from the current chart. */
export function plainManifests(): Record<string, string> {
  const text = readFileSync(join(root, path), 'utf8')
  const { sources } = JSON.parse(text) as { sources: string }
  if (sources !== sourcesHash())
    throw new Error(`${path} was rendered from another chart; run: npm run generate -- --manifests`)
  return { [path]: text }
}

function sourcesHash(): string {
  const files = [
    'Chart.yaml',
    'values.yaml',
    'files/operator.generated.json',
    ...readdirSync(join(chart, 'templates'), { withFileTypes: true })
      .filter(entry => entry.isFile() && entry.name !== 'NOTES.txt')
      .map(entry => join('templates', entry.name))
      .sort(),
  ]
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\n${readFileSync(join(chart, file), 'utf8')}`)
  return hash.digest('hex')
}
