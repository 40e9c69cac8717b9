// SPDX-License-Identifier: Apache-2.0

// Tests the CRD installer on the embedded cluster, as a process with its own permissions and no others.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type CustomResourceDefinition, customResourceDefinitions, generatorAnnotation } from '@grove/api'
import { fieldManager, installCrds, installerRules } from '@grove/installer'
import { captureLog, defineResource, FakeClock } from '@grove/kube'
import { serviceAccount } from '@grove/test-kubernetes'
import { embeddedHost, type OperatorHost } from '@grove/test-scenarios'
import { repository } from './rendered-chart.ts'

const definitions = defineResource<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})
const identity = serviceAccount('grove-system', 'grove-operator')

describe('the CRD installer', () => {
  let host: OperatorHost
  let kubeconfig: string

  before(async () => {
    host = await embeddedHost()
    const metadata = { name: 'crd-installer' }
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'crd-installer' }
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: identity.user }]
    await host.apply([
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata, rules: installerRules },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
    ])
    kubeconfig = host.kubeconfigFor(identity)
  })
  after(() => host?.stop())
  beforeEach(async () => {
    for (const { metadata } of customResourceDefinitions)
      if (await host.client.find(definitions, { name: metadata.name! }))
        await host.client.delete(definitions, { name: metadata.name! })
  })

  test('creates the CRDs, waits until they are established, and changes nothing when it runs again', async () => {
    const first = await run()
    assert.equal(first.code, 0, first.output)
    assert.match(first.output, /"msg":"Installing Grove CRDs"/)
    assert.match(first.output, /"name":"podcliquesets\.grove\.io","msg":"CRD applied"/)
    assert.match(first.output, /"msg":"All Grove CRDs installed successfully"/)
    const before = await installed()
    for (const { metadata, status } of before) {
      assert.deepEqual(
        metadata.managedFields
          ?.filter(({ operation }) => operation === 'Apply')
          .map(({ manager }) => manager),
        [fieldManager],
      )
      assert.ok(status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True'))
    }
    const second = await run()
    assert.equal(second.code, 0, second.output)
    assert.deepEqual(
      await versions(),
      before.map(({ metadata }) => metadata.resourceVersion),
    )
  })

  test('takes over fields of another manager', async () => {
    const [crd] = customResourceDefinitions
    const other = {
      ...crd!,
      metadata: { ...crd!.metadata, annotations: { [generatorAnnotation]: 'another' } },
    }
    await host.client.create(definitions, other)
    const { code, output } = await run()
    assert.equal(code, 0, output)
    const now = await host.client.get(definitions, { name: crd!.metadata.name! })
    assert.match(now.metadata.annotations?.[generatorAnnotation] ?? '', /^grove \d/)
  })

  test('rejects a downgrade that would drop fields before it changes anything, unless forced', async () => {
    const crd = withField('fieldOfTomorrow', 'grove 99.0.0')
    await host.client.create(definitions, crd)
    const rejected = await run()
    assert.equal(rejected.code, 3, rejected.output)
    assert.match(rejected.output, /failed to install CRDs/)
    assert.match(rejected.output, /podgangs\.scheduler\.grove\.io .*v1alpha1: spec\.fieldOfTomorrow/)
    assert.equal((await installed()).length, 1, 'no CRD may be created')
    const forced = await run('--force')
    assert.equal(forced.code, 0, forced.output)
    assert.match(forced.output, /fieldOfTomorrow/)
    assert.equal((await installed()).length, 5)
  })

  test('removes a field in an upgrade from a known older release', async () => {
    const crd = withField('retired', 'grove 0.0.1')
    await host.client.create(definitions, crd)
    const { code, output } = await run()
    assert.equal(code, 0, output)
  })

  test('fails with the reason of the API server without permissions', async () => {
    const unprivileged = host.kubeconfigFor(serviceAccount('grove-system', 'default'))
    const { code, output } = await runWith(unprivileged)
    assert.equal(code, 1, output)
    assert.match(output, /failed to apply CRD \\"podcliques\.grove\.io\\".*forbidden/)
  })

  test('gives up when a CRD is not established in time', async () => {
    const { log } = captureLog()
    const clock = new FakeClock()
    const never = { ...customResourceDefinitions[0]!, status: { conditions: [], storedVersions: [] } }
    const client = { find: async () => never as never, apply: async () => never as never }
    const options = { client, crds: [customResourceDefinitions[0]!], clock, log, force: false }
    const installing = installCrds({ ...options, timeoutMs: 1_000 })
    for (let step = 0; step < 10; step++) {
      await new Promise(setImmediate)
      clock.advance(250)
    }
    assert.deepEqual(await installing, {
      outcome: 'not-established',
      message: 'CRD podcliques.grove.io is not served after 1 s: the condition Established is not True',
    })
  })

  test('prints the CRDs for kubectl', async () => {
    const { code, output } = await run('--print')
    assert.equal(code, 0)
    const printed = output
      .split('---\n')
      .filter(Boolean)
      .map(text => JSON.parse(text) as CustomResourceDefinition)
    assert.deepEqual(printed, JSON.parse(JSON.stringify(customResourceDefinitions)))
  })

  test('exits with 2 for an unknown argument and without a cluster', async () => {
    assert.equal((await run('--dry-run')).code, 2)
    const without = await runWith(join(host.directory, 'missing'))
    assert.equal(without.code, 2, without.output)
    assert.match(without.output, /^Err: /)
  })

  const run = (...args: string[]) => runWith(kubeconfig, ...args)

  async function runWith(path: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
    const main = join(repository, 'packages/installer/src/main.ts')
    const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, KUBECONFIG: path } })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
    const code = await new Promise<number | null>(resolve => child.once('close', resolve))
    return { code, output }
  }

  const installed = async () =>
    (await host.client.list(definitions)).items.toSorted((a, b) =>
      a.metadata.name! < b.metadata.name! ? -1 : 1,
    )

  const versions = async () => (await installed()).map(({ metadata }) => metadata.resourceVersion)
})

/** The CRD of PodGangs of another release, with one more field. */
function withField(name: string, generator: string): CustomResourceDefinition {
  const { metadata, spec, ...rest } = customResourceDefinitions.at(-1)!
  const [version] = spec.versions
  const root = version!.schema!.openAPIV3Schema!
  const specSchema = root.properties!.spec!
  const properties = { ...specSchema.properties, [name]: { type: 'string' } }
  const openAPIV3Schema = { ...root, properties: { ...root.properties, spec: { ...specSchema, properties } } }
  return {
    ...rest,
    metadata: { ...metadata, annotations: { [generatorAnnotation]: generator } },
    spec: { ...spec, versions: [{ ...version!, schema: { openAPIV3Schema } }] },
  }
}
