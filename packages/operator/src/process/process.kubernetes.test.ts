// SPDX-License-Identifier: Apache-2.0

// The operator as it is run: a process with a configuration file, under its own identity with exactly the rights that
// are documented, its webhooks called by the API server.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { type OperatorProcess, startOperatorProcess } from '@grove/test-scenarios'

describe('the operator process', () => {
  let kubernetes: Kubernetes
  let operator: OperatorProcess

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 10 })
    operator = await startOperatorProcess(kubernetes)
  })

  after(async () => {
    operator?.kill()
    await kubernetes?.stop()
  })

  test('what is applied is defaulted, admitted and brought to life', async () => {
    const team = await kubernetes.newNamespace('team')
    const applied = await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('demo', 2) })
    assert.equal(applied.code, 0, applied.stderr)
    await waitFor('the set to be available', async () => {
      const { stdout } = await kubernetes.kubectl('get', 'pcs', 'demo', '-n', team, '-o', 'json')
      return JSON.parse(stdout).status?.availableReplicas === 1
    })
    const { stdout } = await kubernetes.kubectl('get', 'pcs', 'demo', '-n', team, '-o', 'json')
    const { template } = JSON.parse(stdout).spec
    assert.equal(template.terminationDelay, '4h0m0s')
    assert.equal(template.cliques[0].spec.minAvailable, 2)
  })

  test('what is wrong is refused with the rule it breaks', async () => {
    const team = await kubernetes.newNamespace('team')
    const refused = await kubernetes.kubectl('apply', '-n', team, '-f', '-', {
      input: manifest('wrong', 2).replace('roleName: web', 'roleName: web\n          minAvailable: 3'),
    })
    assert.notEqual(refused.code, 0)
    assert.match(
      refused.stderr,
      /admission webhook "pcs\.validating\.webhooks\.grove\.io" denied the request: spec\.template\.cliques\[0\]\.spec\.minAvailable: Invalid value: 3: minAvailable must not be greater than replicas/,
    )
  })

  test('events tell what was done', async () => {
    const team = await kubernetes.newNamespace('team')
    await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('told', 1) })
    await waitFor('an event about the pod', async () => {
      const { stdout } = await kubernetes.kubectl('get', 'events', '-n', team, '-o', 'json')
      const events = JSON.parse(stdout).items as { reason: string; source?: { component?: string } }[]
      return events.some(
        event => event.reason === 'PodCreateSuccessful' && event.source?.component === 'podclique-controller',
      )
    })
  })

  test('a set is deleted with everything that belongs to it', async () => {
    const team = await kubernetes.newNamespace('team')
    await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('brief', 2) })
    await waitFor('its pods', async () => (await names(team, 'pods')).length === 2)
    await kubernetes.kubectl('delete', 'pcs', 'brief', '-n', team)
    await waitFor('nothing left', async () => (await names(team, 'pods,pclq,pg')).length === 0)
  })

  test('metrics are served, and nothing that it asked for was forbidden', async () => {
    const metrics = await operator.metrics()
    assert.match(metrics, /controller_runtime_reconcile_total\{/)
    assert.match(metrics, /controller_runtime_webhook_requests_total\{/)
    assert.doesNotMatch(operator.output, /forbidden/i)
  })

  test('it stops in order when told, and says so with its exit code', async () => {
    operator.child.kill('SIGTERM')
    await waitFor('the process to end', async () => operator.child.exitCode !== null)
    assert.equal(operator.child.exitCode, 0, operator.output)
  })

  async function names(team: string, what: string): Promise<string[]> {
    const { stdout } = await kubernetes.kubectl('get', what, '-n', team, '-o', 'name')
    return stdout.split('\n').filter(line => line !== '')
  }
})

function manifest(name: string, replicas: number): string {
  return `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: ${name}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec:
          roleName: web
          replicas: ${replicas}
          podSpec:
            containers:
              - {name: main, image: registry.example/web:1}
`
}
