// SPDX-License-Identifier: Apache-2.0

// Revisions on a real API server with its schema and the webhooks of the operator. The stored template has the same
// revision as the applied one. Applying an equivalent manifest starts no update; a different one starts exactly one.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type CliqueTemplate,
  customResourceDefinitions,
  generationHash,
  type PodCliqueSet,
  type PodSpec,
} from '@grove/api'
import { type Client, createClient, isKubeError, loadKubeconfig } from '@grove/kube'
import { resources } from '@grove/operator'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { Harness } from './harness.ts'
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts'
import { randomBySchema, type Schema } from './random-sets/by-schema.ts'
import { uids, untilUpdated } from './scenarios/updates.ts'
import { seeded } from './seeded.ts'

const seed = Number(process.env.SEED ?? 1)
const specs = Number(process.env.SPECS ?? 150)
/** The API server rejects many random templates, because the schema does not express every rule. */
const fewestAccepted = specs / 6

const rich: PodSpec = {
  containers: [
    {
      name: 'main',
      image: 'registry.example/main:1',
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
      env: [
        { name: 'A', value: '1' },
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      ],
      resources: { limits: { cpu: '1000m', memory: '1024Mi' } },
      readinessProbe: { httpGet: { path: '/', port: 80 } },
      volumeMounts: [
        { name: 'data', mountPath: '/data' },
        { name: 'token', mountPath: '/token', readOnly: true },
      ],
    },
    { name: 'side', image: 'registry.example/side:1' },
  ],
  volumes: [
    { name: 'data', emptyDir: {} },
    { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
  ],
  tolerations: [{ key: 'gpu', operator: 'Exists' }],
}

function setOf(namespace: string, cliques: CliqueTemplate[], name = 'applied'): PodCliqueSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name, namespace },
    spec: { replicas: 1, template: { cliques } },
  }
}

const clique = (name: string, podSpec: PodSpec): CliqueTemplate => ({
  name,
  spec: { roleName: name, replicas: 1, podSpec: structuredClone(podSpec) },
})

describe(`revisions on real Kubernetes (SEED=${seed})`, () => {
  let kubernetes: Kubernetes
  let client: Client
  let operator: OperatorProcess
  let namespace: string

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 4 })
    client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
    operator = await startOperatorProcess(kubernetes)
    namespace = await kubernetes.newNamespace('revisions')
  })
  after(async () => {
    operator?.kill()
    await client?.close()
    await kubernetes?.stop()
  })

  test(`${specs} random templates have the same revision after they are stored`, async () => {
    const below = seeded(seed)
    const schema = podSpecSchema()
    let accepted = 0
    for (let at = 0; at < specs; at++) {
      const podSpec = randomBySchema(schema, below, 1 + (at % 3)) as PodSpec
      // Every pod needs a container, and random lists may be empty.
      podSpec.containers = podSpec.containers?.length ? podSpec.containers : rich.containers
      const given = setOf(namespace, [clique('a', podSpec)])
      try {
        const stored = await client.create(resources.podCliqueSets, given, { dryRun: true })
        accepted++
        assert.equal(generationHash(stored.spec), generationHash(given.spec), JSON.stringify(podSpec))
      } catch (error) {
        if (!isKubeError(error, 'Invalid', 'Forbidden', 'BadRequest')) throw error
      }
    }
    assert.ok(accepted >= fewestAccepted, `${accepted} were accepted`)
  })

  test('applying the same manifest client-side, server-side, reordered or with explicit defaults starts no update', async () => {
    const harness = new Harness({ client, operatorClient: client, namespace, writes: [] })
    const apply = async (object: PodCliqueSet, ...args: string[]) => {
      const input = JSON.stringify(object)
      const { code, stderr } = await kubernetes.kubectl('apply', '-f', '-', ...args, { input })
      assert.equal(code, 0, stderr)
      await harness.until(
        'the operator to observe the set',
        () => harness.set('applied'),
        set => set?.status?.observedGeneration === set?.metadata.generation,
      )
    }
    const manifest = setOf(namespace, [clique('a', rich), clique('b', rich)])
    await apply(manifest)
    const before = await harness.untilReady('applied', 2)
    const first = (await harness.untilAvailable('applied', 1)).status!.currentGenerationHash
    const isUntouched = async (what: string) => {
      const set = (await harness.set('applied'))!
      assert.equal(set.status!.currentGenerationHash, first, what)
      assert.equal(set.status!.updateProgress, undefined, what)
      assert.deepEqual(uids(await harness.pods('applied')), uids(before), what)
      assert.equal((await harness.list(resources.controllerRevisions, 'applied')).length, 1, what)
    }
    await apply(manifest)
    await isUntouched('the same again')
    await apply(manifest, '--server-side', '--force-conflicts')
    await isUntouched('the same, server-side')
    await apply(reordered(manifest), '--server-side', '--force-conflicts')
    await isUntouched('reordered')
    await apply(spelledOut(manifest))
    await isUntouched('defaults spelled out')
    await apply(manifest)
    await isUntouched('explicit defaults removed')

    const changed = structuredClone(manifest)
    changed.spec.template.cliques[0]!.spec.podSpec.containers[0]!.env!.reverse()
    await apply(changed, '--server-side', '--force-conflicts')
    await untilUpdated(harness, 'applied')
    const now = await harness.untilReady('applied', 2)
    assert.notEqual((await harness.set('applied'))!.status!.currentGenerationHash, first)
    assert.equal(
      now.filter(pod => uids(before).includes(pod.metadata.uid)).length,
      1,
      'the other clique is unchanged',
    )
    await apply(changed)
    assert.equal((await harness.list(resources.controllerRevisions, 'applied')).length, 2)
  })
})

function podSpecSchema(): Schema {
  const definition = customResourceDefinitions.find(({ spec }) => spec.names.kind === 'PodClique')!
  const schema = definition.spec.versions[0]!.schema!.openAPIV3Schema as Schema
  return schema.properties!.spec!.properties!.podSpec!
}

function reordered(manifest: PodCliqueSet): PodCliqueSet {
  const copy = structuredClone(manifest)
  copy.spec.template.cliques.reverse()
  for (const { spec } of copy.spec.template.cliques) {
    spec.podSpec.containers.reverse()
    spec.podSpec.volumes?.reverse()
    for (const container of spec.podSpec.containers) {
      container.ports?.reverse()
      container.volumeMounts?.reverse()
    }
  }
  return copy
}

function spelledOut(manifest: PodCliqueSet): PodCliqueSet {
  const copy = structuredClone(manifest)
  for (const { spec } of copy.spec.template.cliques) {
    Object.assign(spec.podSpec, {
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      nodeSelector: {},
    })
    for (const container of spec.podSpec.containers) {
      container.imagePullPolicy = 'IfNotPresent'
      container.terminationMessagePath = '/dev/termination-log'
      if (container.resources) container.resources.limits = { cpu: '1', memory: '1Gi' }
      for (const port of container.ports ?? []) port.protocol ??= 'TCP'
    }
  }
  return copy
}
