// SPDX-License-Identifier: Apache-2.0

// The operator as it is run: a process with a configuration file, under its own identity with exactly the rights that
// are documented, its webhooks called by the API server.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { customResourceDefinitions, loadConfiguration, type OperatorConfiguration } from '@grove/api'
import { type Kubernetes, serviceAccount, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { operatorClusterRole, operatorRole } from '../access/cluster-role.ts'
import { webhookConfigurations } from '../admission/webhook-configurations.ts'

const namespace = 'grove-system'
const account = 'grove-operator'
const main = resolve(import.meta.dirname, '../main.ts')

describe('the operator process', () => {
  let kubernetes: Kubernetes
  let folder: string
  let operator: ChildProcess
  let output = ''
  let ports: number[]

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'grove-operator-'))
    kubernetes = await startKubernetes({ nodes: 10 })
    await kubernetes.apply(customResourceDefinitions as never)
    ports = await freePorts(3)
    const configuration = configured(ports)
    await kubernetes.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
      ...access(configuration),
      {
        // Leads API servers to this machine, under the name that the certificate carries.
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'grove-operator', namespace },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      },
      ...webhookConfigurations({ namespace, port: ports[0]! }, configuration),
    ] as never)
    const kubeconfig = await kubernetes.kubeconfigFor(serviceAccount(namespace, account))
    const config = join(folder, 'config.yaml')
    writeFileSync(config, JSON.stringify(configurationDocument(ports)))
    operator = spawn(process.execPath, [main, `--config=${config}`], {
      env: {
        ...process.env,
        KUBECONFIG: kubeconfig,
        GROVE_OPERATOR_NAMESPACE: namespace,
        GROVE_INIT_CONTAINER_IMAGE: 'grove-initc',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [operator.stdout!, operator.stderr!]) stream.on('data', chunk => (output += chunk))
    await waitFor('the operator to be ready', async () => {
      if (operator.exitCode !== null)
        throw new Error(`the operator ended with ${operator.exitCode}: ${output}`)
      const response = await fetch(`http://127.0.0.1:${ports[1]}/readyz`).catch(() => undefined)
      return response?.status === 200
    })
  })

  after(async () => {
    operator?.kill('SIGKILL')
    await kubernetes?.stop()
    rmSync(folder, { recursive: true, force: true })
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
    const metrics = await (await fetch(`http://127.0.0.1:${ports[2]}/metrics`)).text()
    assert.match(metrics, /controller_runtime_reconcile_total\{/)
    assert.match(metrics, /controller_runtime_webhook_requests_total\{/)
    assert.doesNotMatch(output, /forbidden/i)
  })

  test('it stops in order when told, and says so with its exit code', async () => {
    operator.kill('SIGTERM')
    await waitFor('the process to end', async () => operator.exitCode !== null)
    assert.equal(operator.exitCode, 0, output)
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

function configurationDocument([webhooks, probes, metrics]: readonly number[]): object {
  const bindAddress = '127.0.0.1'
  return {
    apiVersion: 'operator.config.grove.io/v1alpha1',
    kind: 'OperatorConfiguration',
    leaderElection: { enabled: true },
    server: {
      webhooks: { bindAddress, port: webhooks },
      healthProbes: { bindAddress, port: probes },
      metrics: { bindAddress, port: metrics },
    },
  }
}

function configured(ports: readonly number[]): OperatorConfiguration {
  const result = loadConfiguration(configurationDocument(ports))
  if (result.outcome !== 'loaded') throw new Error(JSON.stringify(result))
  return result.configuration
}

function access(configuration: OperatorConfiguration): object[] {
  const clusterRole = operatorClusterRole(configuration)
  const role = operatorRole(namespace, configuration)
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }]
  const binding = (kind: string, of: { kind: string; metadata: { name: string } }, metadata: object) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name: of.metadata.name, ...metadata },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: of.kind, name: of.metadata.name },
    subjects,
  })
  return [
    clusterRole,
    role,
    binding('ClusterRoleBinding', clusterRole, {}),
    binding('RoleBinding', role, { namespace }),
  ]
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>(done => {
          const server = createServer().listen(0, '127.0.0.1', () => done(server))
        }),
    ),
  )
  const ports = servers.map(server => (server.address() as { port: number }).port)
  await Promise.all(servers.map(server => new Promise(done => server.close(done))))
  return ports
}
