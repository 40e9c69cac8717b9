// SPDX-License-Identifier: Apache-2.0

// `grove manifests` compared with the real helm. No cluster is needed, but helm is built with Go.
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import type { KubeObject } from '@grove/kube'
import { buildHelm, type Helm } from '@grove/test-kubernetes'
import { parseAllDocuments } from 'yaml'
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
  const table: [title: string, manifests: string, template: string][] = [
    ['by default', '', '--namespace grove-system'],
    [
      'in another namespace, with other images',
      '-n other --image=registry.example/operator:v9 --waiter-image=registry.example/waiter',
      `--namespace other --set ${images}`,
    ],
  ]
  for (const [title, manifests, template] of table)
    it(title, async () => {
      const ours = await call(['manifests', '-o', 'json', ...manifests.split(' ').filter(Boolean)])
      assert.equal(ours.status, 0, ours.stderr)
      const rendered = await helm.run([
        ...['template', 'grove-operator', chart, '--skip-tests', '--include-crds'],
        ...template.split(' '),
      ])
      assert.equal(rendered.code, 0, rendered.stderr)
      const theirs = parseAllDocuments(rendered.stdout)
        .map(document => document.toJS() as KubeObject | null)
        .filter(object => object !== null)
      assert.deepEqual(byName(JSON.parse(ours.stdout).items), byName(theirs))
    })
})

function byName(objects: readonly KubeObject[]): Record<string, KubeObject> {
  const named = objects.map(object => [`${object.kind} ${object.metadata?.name}`, object] as const)
  assert.equal(new Set(named.map(([name]) => name)).size, objects.length)
  return Object.fromEntries(named)
}
