// SPDX-License-Identifier: Apache-2.0

// Executes the commands of the pages about installation and configuration on a real control plane, with the real helm
// and kubectl. The containers of the release are simulated: they start, but run no operator.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildHelm, type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import {
  blocksOfTest,
  executedBlocks,
  fencedBlocks,
  type PageBlock,
  pagesOnKubernetes,
} from '../../../tools/checks/markdown.ts'
import { PageCommands } from './page-commands.ts'
import { at, chartFolder, release, repository } from './rendered-chart.ts'

const readme = 'README.md'
const installPage = 'docs/operations/install.md'
const configurePage = 'docs/operations/configure.md'
const dashboardPage = 'docs/operations/dashboard.md'
const airGappedPage = 'docs/operations/air-gapped.md'

const blocks: readonly PageBlock[] = [
  ...pagesOnKubernetes.flatMap(page => executedBlocks(repository, page).map(block => ({ page, ...block }))),
  ...blocksOfTest(repository, 'test/packaging/src/pages.kubernetes.test.ts'),
]

/** Headings in the order of execution. Plain manifests replace the release, so they follow its deletion. */
const order: readonly (readonly [page: string, heading: string])[] = [
  [installPage, 'With Helm'],
  [readme, 'Install it'],
  [configurePage, 'Configure the operator'],
  [dashboardPage, 'In the cluster'],
  [installPage, 'Uninstall'],
  [installPage, 'With plain manifests'],
  [installPage, 'Custom resource definitions'],
  [airGappedPage, 'Images'],
]

describe('the commands of the pages for administrators', () => {
  let kubernetes: Kubernetes
  let commands: PageCommands

  before(async () => {
    const helm = await buildHelm()
    kubernetes = await startKubernetes({ nodes: 3 })
    const folder = join(kubernetes.directory, 'pages')
    mkdirSync(folder)
    commands = new PageCommands(kubernetes, helm, folder)
    symlinkSync(join(repository, 'charts'), join(folder, 'charts'))
    writeFileSync(join(folder, 'my-values.yaml'), valuesOfThePage())
    const crds = join(chartFolder, 'crds')
    const definitions = readdirSync(crds).map(file => readFileSync(join(crds, file), 'utf8'))
    writeFileSync(join(folder, 'grove-crds.yaml'), definitions.join(''))
  })
  after(() => kubernetes?.stop())

  test('every block has its place in the order of execution', () => {
    const headings = blocks.map(({ page, heading }) => `${page} ${heading}`)
    assert.deepEqual(headings.sort(), order.map(pair => pair.join(' ')).sort())
  })

  test('install and configure the operator', async () => {
    for (const step of order.slice(0, 3)) await run(...step)
    const name = await configMapName()
    const { data } = await json('configmap', name)
    assert.match((data as Record<string, string>)['config.yaml']!, /topologyAwareScheduling:\s+enabled: true/)
    await run(...order[3]!)
    const dashboard = await json('deployment', 'grove-dashboard')
    assert.equal(at(dashboard, 'spec.replicas'), 1)
    assert.equal(await configMapName(), name, 'the configuration of the operator stays')
  })

  test('uninstall it, and install it with plain manifests', async () => {
    await run(...order[4]!)
    const { stdout } = await kubernetes.kubectl('get', 'crds', '-o', 'name')
    assert.match(stdout, /podcliquesets\.grove\.io/, 'the CRDs stay')
    await kubernetes.kubectl('delete', 'namespace', release.namespace)
    for (const step of order.slice(5, 7)) await run(...step)
    await waitFor('the pods of the operator', async () => {
      const { status } = await json('deployment', 'grove-operator')
      return at(status, 'availableReplicas') === 2
    })
  })

  test('list the images of the chart', async () => {
    const images = await run(...order[7]!)
    assert.match(images, /image: "?grove-operator:/)
    assert.match(images, /GROVE_INIT_CONTAINER_IMAGE"?\n\s+value: "?grove-initc/)
  })

  function run(page: string, heading: string): Promise<string> {
    return commands.run(blocks.find(block => block.page === page && block.heading === heading)!)
  }

  async function configMapName(): Promise<string> {
    const deployment = await json('deployment', 'grove-operator')
    const volumes = at(deployment, 'spec.template.spec.volumes') as { configMap?: { name: string } }[]
    return volumes.find(({ configMap }) => configMap)!.configMap!.name
  }

  async function json(...args: string[]): Promise<Record<string, unknown>> {
    const where = ['-n', release.namespace, '-o', 'json']
    const { code, stdout, stderr } = await kubernetes.kubectl('get', ...args, ...where)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Record<string, unknown>
  }
})

function valuesOfThePage(): string {
  const page = readFileSync(join(repository, installPage), 'utf8')
  const block = fencedBlocks(page).find(({ text }) => text.startsWith('# my-values.yaml'))
  assert.ok(block, `${installPage} shows no my-values.yaml`)
  return block.text
}
