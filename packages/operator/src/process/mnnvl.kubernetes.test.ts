// SPDX-License-Identifier: Apache-2.0

// Tests NVLink domains enabled and disabled, with and without the driver's kind, with the operator's own permissions.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { computeDomainDefinition, type OperatorProcess, startOperatorProcess } from '@grove/test-scenarios'

const switchedOn = { configuration: { network: { autoMNNVLEnabled: true } } }
const set = `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: fabric
  annotations: {grove.io/mnnvl-group: engine}
spec:
  replicas: 1
  template:
    cliques:
      - name: work
        spec:
          roleName: work
          replicas: 1
          podSpec:
            containers:
              - {name: main, image: registry.example/work:1, resources: {limits: {nvidia.com/gpu: 1}}}
`

describe('NVLink domains and the operator process', () => {
  let kubernetes: Kubernetes
  let operator: OperatorProcess | undefined
  let team = ''

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 2 })
  })
  after(async () => {
    operator?.kill()
    await kubernetes?.stop()
  })

  async function domains(): Promise<string> {
    const { stdout } = await kubernetes.kubectl('get', 'computedomains', '-n', team, '-o', 'name')
    return stdout.trim()
  }

  async function stopped({ child }: OperatorProcess): Promise<void> {
    child.kill('SIGTERM')
    await waitFor('the operator process to exit', () => child.exitCode !== null)
  }

  test('enabled without the driver: the operator does not start, and reports why', async () => {
    await assert.rejects(
      startOperatorProcess(kubernetes, switchedOn),
      /ended with 7: .*MNNVL preflight check failed.*ComputeDomain CRD/s,
    )
  })

  test('disabled without the driver: the operator does not request the kind', async () => {
    operator = await startOperatorProcess(kubernetes)
    assert.doesNotMatch(operator.output, /forbidden|computedomains/i)
    await stopped(operator)
  })

  test('enabled with the driver: the operator creates domains for a set', async () => {
    await kubernetes.apply(computeDomainDefinition)
    operator = await startOperatorProcess(kubernetes, switchedOn)
    team = await kubernetes.newNamespace('team')
    const applied = await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: set })
    assert.equal(applied.code, 0, applied.stderr)
    await waitFor('its domain', async () => (await domains()).endsWith('/fabric-0-engine'))
    assert.doesNotMatch(operator.output, /forbidden/i)
    await stopped(operator)
  })

  test('disabled with the driver: the domain of a set is deleted with the set, and new sets are rejected', async () => {
    operator = await startOperatorProcess(kubernetes)
    await kubernetes.kubectl('delete', 'pcs', 'fabric', '-n', team)
    await waitFor('no domain', async () => (await domains()) === '')
    const rejected = await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: set })
    assert.match(rejected.stderr, /MNNVL is not enabled in the operator configuration/)
    assert.doesNotMatch(operator.output, /forbidden/i)
    await stopped(operator)
  })
})
