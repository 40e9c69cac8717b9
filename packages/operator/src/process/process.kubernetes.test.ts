// SPDX-License-Identifier: Apache-2.0

// Tests the operator as a process: with a configuration file, its own identity, exactly the documented permissions, and
// webhooks that the API server calls.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { type OperatorProcess, startOperatorProcess } from '@grove/test-scenarios'

const leaseName = 'grove-operator-leader-election'
const shortLease = { enabled: true, leaseDuration: '15s', renewDeadline: '5s', retryPeriod: '500ms' }

describe('the operator process', () => {
  let kubernetes: Kubernetes
  let operator: OperatorProcess

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 10 })
    operator = await startOperatorProcess(kubernetes, {
      configuration: { placementWarnings: { enabled: true } },
    })
  })

  after(async () => {
    operator?.kill()
    await kubernetes?.stop()
  })

  test('defaults, admits and creates an applied set', async () => {
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

  test('rejects an invalid set and names the broken rule', async () => {
    const team = await kubernetes.newNamespace('team')
    const rejected = await kubernetes.kubectl('apply', '-n', team, '-f', '-', {
      input: manifest('wrong', 2).replace('roleName: web', 'roleName: web\n          minAvailable: 3'),
    })
    assert.notEqual(rejected.code, 0)
    assert.match(
      rejected.stderr,
      /admission webhook "pcs\.validating\.webhooks\.grove\.io" denied the request: spec\.template\.cliques\[0\]\.spec\.minAvailable: Invalid value: 3: minAvailable must not be greater than replicas/,
    )
  })

  test('admits a set that can never fit, with a warning that states why', async () => {
    const team = await kubernetes.newNamespace('team')
    const large = manifest('large', 1).replace(
      'image: registry.example/web:1',
      'image: registry.example/web:1, resources: {requests: {cpu: "65"}}',
    )
    // The first warning may be late, because the process that computes it starts on demand.
    await waitFor('the warning', async () => {
      const { code, stderr } = await kubernetes.kubectl('apply', '-n', team, '--dry-run=server', '-f', '-', {
        input: large,
      })
      assert.equal(code, 0, stderr)
      return /Warning: PodGang large-0 cannot be scheduled on the present 10 nodes, even if they were empty: a pod of PodClique large-0-web needs 65 cpu; the largest node \S+ has 64/.test(
        stderr,
      )
    })
    const small = await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('small', 1) })
    assert.equal(small.code, 0)
    assert.doesNotMatch(small.stderr, /Warning/)
  })

  test('emits events', async () => {
    const team = await kubernetes.newNamespace('team')
    await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('reported', 1) })
    await waitFor('an event about the pod', async () => {
      const { stdout } = await kubernetes.kubectl('get', 'events', '-n', team, '-o', 'json')
      const events = JSON.parse(stdout).items as { reason: string; source?: { component?: string } }[]
      return events.some(
        event => event.reason === 'PodCreateSuccessful' && event.source?.component === 'podclique-controller',
      )
    })
  })

  test('deletes a set with all of its objects', async () => {
    const team = await kubernetes.newNamespace('team')
    await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('brief', 2) })
    await waitFor('its pods', async () => (await names(team, 'pods')).length === 2)
    await kubernetes.kubectl('delete', 'pcs', 'brief', '-n', team)
    await waitFor('nothing left', async () => (await names(team, 'pods,pclq,pg')).length === 0)
  })

  test('serves metrics, and the API server rejected none of its requests as forbidden', async () => {
    const metrics = await operator.metrics()
    assert.match(metrics, /controller_runtime_reconcile_total\{/)
    assert.match(metrics, /controller_runtime_webhook_requests_total\{/)
    assert.doesNotMatch(operator.output, /forbidden/i)
  })

  test('stops gracefully on a signal, with exit code 0', async () => {
    operator.child.kill('SIGTERM')
    await waitFor('the process to exit', async () => operator.child.exitCode !== null)
    assert.equal(operator.child.exitCode, 0, operator.output)
  })

  test('while it is down, sets cannot be written and pods keep running; after the restart it catches up', async () => {
    const team = await kubernetes.newNamespace('team')
    const again = await startOperatorProcess(kubernetes)
    await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('kept', 2) })
    await waitFor('its pods', async () => (await names(team, 'pods')).length === 2)
    again.child.kill('SIGTERM')
    await waitFor('the process to exit', async () => again.child.exitCode !== null)
    const rejected = await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('late', 1) })
    assert.match(rejected.stderr, /failed calling webhook "pcs\.\w+\.webhooks\.grove\.io"/)
    const [pod = ''] = await names(team, 'pods')
    await kubernetes.kubectl('delete', pod, '-n', team)
    await kubernetes.kubectl('scale', 'pclq/kept-0-web', '-n', team, '--replicas=3')
    assert.equal((await names(team, 'pods')).length, 1)
    operator = await startOperatorProcess(kubernetes, { configuration: { leaderElection: shortLease } })
    await waitFor('three pods', async () => (await names(team, 'pods')).length === 3)
    assert.ok(!(await names(team, 'pods')).includes(pod))
    const applied = await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('late', 1) })
    assert.equal(applied.code, 0, applied.stderr)
  })

  test('logs a pause longer than its renew deadline, renews its lease and continues', async () => {
    operator.child.kill('SIGSTOP')
    await waitFor('the renew deadline to pass', async () => (await leaseAgeMs()) > 5_600)
    operator.child.kill('SIGCONT')
    await waitFor('the lease to be renewed', async () => /is the leader again/.test(operator.output))
    assert.match(operator.output, /This process got no CPU time; it stops writing until the lease is renewed/)
    assert.match(operator.output, /"stalledMs":\d{3,}/)
    assert.equal(operator.child.exitCode, null)
    const team = await kubernetes.newNamespace('team')
    await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input: manifest('after', 1) })
    await waitFor('a pod', async () => (await names(team, 'pods')).length === 1)
  })

  test('names the new holder and exits with the code for a lost lease when another process took its lease', async () => {
    operator.child.kill('SIGSTOP')
    const stolen = { spec: { holderIdentity: 'thief', leaseDurationSeconds: 60 } }
    const patch = [
      'patch',
      'lease',
      leaseName,
      '-n',
      'grove-system',
      '--type=merge',
      '-p',
      JSON.stringify(stolen),
    ]
    const { code, stderr } = await kubernetes.kubectl(...patch)
    assert.equal(code, 0, stderr)
    operator.child.kill('SIGCONT')
    await waitFor('the process to exit', async () => operator.child.exitCode !== null)
    assert.equal(operator.child.exitCode, 6, operator.output)
    assert.match(operator.output, /Err: .*the lease is held by thief/)
  })

  test('does not start with an incompatible scheduler, and reports why on standard error and in the termination message', async () => {
    const configuration = { scheduler: { profiles: [{ name: 'volcano' }] } }
    await assert.rejects(
      startOperatorProcess(kubernetes, { configuration }),
      /ended with 5: .*Err: failed to initialize volcano backend: .*podgroups\.scheduling\.volcano\.sh is not installed/s,
    )
    const { stdout } = await kubernetes.kubectl('get', 'events', '-n', 'default', '-o', 'json')
    const events = JSON.parse(stdout).items as { reason: string; involvedObject: { name: string } }[]
    const emitted = events.find(({ reason }) => reason === 'VolcanoCapabilityUnavailable')
    assert.equal(emitted?.involvedObject.name, 'podgroups.scheduling.volcano.sh')
  })

  /** Time since the last renewal. */
  async function leaseAgeMs(): Promise<number> {
    const { stdout } = await kubernetes.kubectl('get', 'lease', leaseName, '-n', 'grove-system', '-o', 'json')
    return Date.now() - Date.parse(JSON.parse(stdout).spec.renewTime)
  }

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
