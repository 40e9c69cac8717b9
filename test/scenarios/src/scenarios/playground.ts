// SPDX-License-Identifier: Apache-2.0

// The workloads of the playground, applied with the objects next to them and with the operator configuration that they
// need.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { loadConfiguration, type OperatorConfiguration, type PodCliqueSet } from '@grove/api'
import { apiVersionOf, discover, isAlreadyExists, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import { parse, parseAllDocuments } from 'yaml'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'

const playground = resolve(import.meta.dirname, '../../../../playground')

/** The expected objects of a workload, in addition to its pods. */
const shows: Record<string, (harness: Harness, set: string) => Promise<void>> = {
  async 'shared-gpu'(harness, set) {
    const claims = (await harness.list(resources.resourceClaims, set)).map(({ metadata }) => metadata.name)
    assert.equal(claims.filter(name => name === 'draft-all-fabric').length, 1)
    assert.equal(claims.filter(name => name.endsWith('-helper')).length, 2)
    assert.equal(claims.filter(name => name.endsWith('-shard')).length, 8)
    assert.equal(claims.length, 11)
  },
  async autoscaled(harness, set) {
    const autoscalers = await harness.list(resources.autoscalers, set)
    assert.deepEqual(autoscalers.map(({ metadata }) => metadata.name).sort(), [
      'chat-0-engine',
      'chat-0-frontend',
    ])
  },
  async nvlink(harness, set) {
    const domains = await harness.list(resources.computeDomains, set)
    assert.deepEqual(
      domains.map(({ metadata }) => metadata.name),
      ['big-0-engine'],
    )
  },
}

/** Some folders hold no workload. */
const workloads = readdirSync(playground).filter(folder =>
  existsSync(join(playground, folder, 'podcliqueset.yaml')),
)

export const playgroundScenarios: Scenario[] = workloads.map(folder => ({
  name: `playground/${folder} is deployed and deleted`,
  ...configurationIn(folder),
  async run(harness) {
    const documents = parseAllDocuments(readFileSync(join(playground, folder, 'podcliqueset.yaml'), 'utf8'))
    const objects = documents.map(document => document.toJS() as KubeObject)
    const isSet = ({ kind }: KubeObject) => kind === 'PodCliqueSet'
    for (const object of objects.filter(one => !isSet(one))) await create(harness, object)
    // An operator sees custom resources of the workload only if it starts after them.
    await harness.restartOperator()
    for (const object of objects.filter(isSet)) {
      const set = await harness.apply(JSON.stringify(object))
      await harness.untilReady(set.metadata.name, podsOf(set))
      await harness.untilAvailable(set.metadata.name, set.spec.replicas ?? 1)
      await shows[folder]?.(harness, set.metadata.name)
      await harness.deleteSet(set.metadata.name)
      await harness.untilReady(set.metadata.name, 0)
    }
  },
}))

function configurationIn(folder: string): { configuration?: OperatorConfiguration } {
  const file = join(playground, folder, 'config.yaml')
  if (!existsSync(file)) return {}
  const loaded = loadConfiguration(parse(readFileSync(file, 'utf8')))
  assert.equal(loaded.outcome, 'loaded', file)
  return loaded.outcome === 'loaded' ? { configuration: loaded.configuration } : {}
}

async function create(harness: Harness, object: KubeObject): Promise<void> {
  const resource = await harness.until(
    `${object.kind} to be served`,
    async () =>
      (await discover(harness.client)).find(
        served => served.kind === object.kind && apiVersionOf(served) === object.apiVersion,
      ),
    served => served !== undefined,
  )
  const { namespace } = harness
  try {
    await harness.client.create(
      resource!,
      resource!.namespaced ? { ...object, metadata: { ...object.metadata, namespace } } : object,
    )
  } catch (error) {
    // Cluster-scoped objects may exist already.
    if (resource!.namespaced || !isAlreadyExists(error)) throw error
  }
}

function podsOf({ spec: { replicas = 1, template } }: PodCliqueSet): number {
  const groups = template.podCliqueScalingGroups ?? []
  const ofReplica = template.cliques.map(({ name, spec }) => {
    const group = groups.find(({ cliqueNames }) => cliqueNames.includes(name))
    return spec.replicas * (group?.replicas ?? 1)
  })
  return replicas * ofReplica.reduce((sum, pods) => sum + pods, 0)
}
