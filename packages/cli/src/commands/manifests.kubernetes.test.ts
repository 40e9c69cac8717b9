// SPDX-License-Identifier: Apache-2.0

// `grove manifests` compared with the real helm. No cluster is needed, but helm is built with Go.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import type { KubeObject } from '@grove/kube'
import { buildHelm, type Helm } from '@grove/test-kubernetes'
import { parseAllDocuments } from 'yaml'
import { writeReleaseChart } from '../../../../tools/packaging/release-chart.ts'
import { installManifests } from '../install/install-manifests.ts'
import { call } from '../testing/grove-call.ts'

const chart = resolve(import.meta.dirname, '../../../../charts/grove')

describe('grove manifests prints the objects that helm renders', () => {
  let helm: Helm

  before(async () => {
    helm = await buildHelm()
  })

  const images = [
    'image.repository=registry.example/operator',
    'image.tag=v9',
    'deployment.env[0].name=GROVE_INIT_CONTAINER_IMAGE',
    'deployment.env[0].value=registry.example/waiter',
  ].join()
  const table: [title: string, manifests: string, flags: string][] = [
    ['by default', '', '--namespace grove-system'],
    [
      'in another namespace, with other images',
      '-n other --image=registry.example/operator:v9 --waiter-image=registry.example/waiter',
      `--namespace other --set ${images}`,
    ],
  ]
  for (const [title, manifests, flags] of table)
    it(title, async () => {
      const ours = await call(['manifests', '-o', 'json', ...manifests.split(' ').filter(Boolean)])
      assert.equal(ours.status, 0, ours.stderr)
      const theirs = await template(chart, ...flags.split(' '))
      assert.deepEqual(byName(JSON.parse(ours.stdout).items), byName(theirs))
    })

  it('for a release, with the chart of that release', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'grove-release-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const release = { registry: 'registry.example/grove', version: 'v9.8.7-rc.1' }
    writeReleaseChart(release, join(folder, 'chart'))
    const theirs = await template(join(folder, 'chart'), '--namespace', 'grove-system')
    const ours = installManifests({ namespace: 'grove-system', release })
    assert.deepEqual(byName(ours), byName(theirs))
    const text = JSON.stringify(ours)
    assert.match(text, /"registry\.example\/grove\/grove-operator:v9\.8\.7-rc\.1"/)
    assert.match(text, /"registry\.example\/grove\/grove-initc"/)
  })

  async function template(folder: string, ...args: string[]): Promise<KubeObject[]> {
    const { code, stdout, stderr } = await helm.run([
      ...['template', 'grove-operator', folder, '--skip-tests', '--include-crds'],
      ...args,
    ])
    assert.equal(code, 0, stderr)
    return parseAllDocuments(stdout)
      .map(document => document.toJS() as KubeObject | null)
      .filter(object => object !== null)
  }
})

function byName(objects: readonly KubeObject[]): Record<string, KubeObject> {
  const named = objects.map(object => [`${object.kind} ${object.metadata?.name}`, object] as const)
  assert.equal(new Set(named.map(([name]) => name)).size, objects.length)
  return Object.fromEntries(named)
}
