// SPDX-License-Identifier: Apache-2.0

// Tests the bundles on the embedded cluster, started in the same way as in the images.
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { defineResource, isKubeError, type KubeObject } from '@grove/kube'
import { waitFor } from '@grove/test-kubernetes'
import { embeddedHost, installOperator, type OperatorHost, OperatorProcess } from '@grove/test-scenarios'
import { images as programs, writeBundles } from '../../../tools/packaging/bundle.ts'
import { readImage } from './containerfile.ts'
import { ImageFiles } from './image-process.ts'
import { ended } from './released-operator.ts'

const sets = defineResource<KubeObject & { readonly spec: unknown }>({
  group: 'grove.io',
  version: 'v1alpha1',
  resource: 'podcliquesets',
  kind: 'PodCliqueSet',
  namespaced: true,
})
const pods = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  namespaced: true,
})

/** A waiter runs in every pod that starts after others, so its size is part of its cost. */
const waiterBytes = 16 * 1024

describe('bundles', () => {
  const images = new ImageFiles()
  let host: OperatorHost
  let operator: OperatorProcess | undefined

  before(async () => {
    await images.build()
    host = await embeddedHost()
  })
  after(async () => {
    operator?.kill()
    await host?.stop()
    images.remove()
  })

  test('the same sources yield the same bytes', async () => {
    const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'grove-bundles-')))
    try {
      for (const folder of folders) await writeBundles(folder)
      const [first, second] = folders.map(folder =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter(path => statSync(join(folder, path)).isFile())
          .sort()
          .map(path => [path, readFileSync(join(folder, path), 'utf8')]),
      )
      const expected = Object.entries(programs).flatMap(([image, files]) =>
        [...Object.keys(files), 'LICENSES.txt'].map(file => join(image, file)),
      )
      assert.deepEqual(
        first!.map(([path]) => path),
        expected.sort(),
      )
      assert.deepEqual(first, second)
      for (const [path, text] of first!)
        assert.ok(!text!.includes(process.cwd()), `${path} names a folder of this machine`)
      const waiter = first!.find(([path]) => path === 'waiter/waiter.mjs')
      assert.ok(Buffer.byteLength(waiter![1]!) <= waiterBytes)
    } finally {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    }
  })

  test('every image starts its program as an unprivileged user, and has the labels of the registry', async () => {
    for (const [target, title, args, printed] of [
      [
        'operator',
        'grove-operator',
        ['--version'],
        /^grove-operator \{v0\.1\.0-dev unknown dirty .* \w+\/\w+\}\n$/,
      ],
      ['installer', 'grove-install-crds', ['--version'], /^grove-install-crds v0\.1\.0-dev\n$/],
      ['waiter', 'grove-initc', ['--help'], /^Waits until PodCliques have enough ready pods/],
    ] as const) {
      const { labels, user } = readImage(target)
      assert.equal(labels['org.opencontainers.image.title'], title)
      assert.equal(labels['org.opencontainers.image.version'], 'v0.1.0-dev')
      assert.notEqual(user.uid, 0)
      const { code, output } = await ended(images.spawn(target, { args }, {}))
      assert.equal(code, 0, output)
      assert.match(output, printed)
    }
  })

  test('the operator image installs the CRDs with the command of the chart', async () => {
    const kubeconfig = readable(host.kubeconfigFor({ user: 'kubernetes-admin', groups: ['system:masters'] }))
    const command = ['node', '/grove/install-crds.mjs']
    const { code, output } = await ended(images.spawn('operator', { command }, { KUBECONFIG: kubeconfig }))
    assert.equal(code, 0, output)
    assert.match(output, /All Grove CRDs installed successfully/)
  })

  test('the operator defaults, validates and rolls out a set', async () => {
    const { launch } = await installOperator(host)
    const env = Object.fromEntries(
      [
        'KUBECONFIG',
        'GROVE_OPERATOR_NAMESPACE',
        'GROVE_OPERATOR_SERVICE_ACCOUNT_NAME',
        'GROVE_INIT_CONTAINER_IMAGE',
      ].map(name => [name, launch.env[name] ?? '']),
    )
    readable(env.KUBECONFIG!)
    readable(launch.config)
    operator = new OperatorProcess(
      images.spawn('operator', { args: [`--config=${launch.config}`] }, env),
      launch.ports,
    )
    // Ready includes that the review process has decided its first request.
    await operator.untilReady()
    const created = await host.client.create(sets, set('demo', 1))
    assert.equal(
      (created.spec as { template: { terminationDelay: string } }).template.terminationDelay,
      '4h0m0s',
    )
    await waitFor(
      'its pods',
      async () => (await host.client.list(pods, { namespace: 'default' })).items.length === 2,
    )
    await assert.rejects(
      host.client.create(sets, set('wrong', 3)),
      error => isKubeError(error) && /minAvailable must not be greater than replicas/.test(error.message),
    )
    assert.doesNotMatch(operator.output, /EROFS|EACCES|ENOENT|ERR_MODULE_NOT_FOUND/)
    operator.child.kill('SIGTERM')
    await waitFor('the process to exit', () => operator!.child.exitCode !== null)
    assert.equal(operator.child.exitCode, 0, operator.output)
  })

  /** Makes files readable for the user of the image. */
  function readable(path: string): string {
    chmodSync(host.directory, 0o755)
    chmodSync(path, 0o644)
    return path
  }
})

function set(name: string, minAvailable: number): KubeObject & { readonly spec: unknown } {
  const podSpec = { containers: [{ name: 'main', image: 'registry.example/web:1' }] }
  const clique = { name: 'web', spec: { roleName: 'web', replicas: 2, minAvailable, podSpec } }
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name, namespace: 'default' },
    spec: { replicas: 1, template: { cliques: [clique] } },
  }
}
