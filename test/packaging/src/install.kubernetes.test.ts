// SPDX-License-Identifier: Apache-2.0

// From helm install to helm uninstall on a real control plane. The pods of the release are simulated, so the operator
// runs outside, with everything that the release gives them.
import assert from 'node:assert/strict'
import { request } from 'node:https'
import { after, before, describe, test } from 'node:test'
import {
  buildHelm,
  freePorts,
  type Helm,
  type Kubernetes,
  startKubernetes,
  waitFor,
} from '@grove/test-kubernetes'
import type { OperatorProcess } from '@grove/test-scenarios'
import { ImageFiles } from './image-process.ts'
import { servicesToThisMachine } from './post-renderer.ts'
import { ended, ReleasedOperator } from './released-operator.ts'
import { at, chartFolder, documents, type Rendered, release, valuesFlags } from './rendered-chart.ts'

const where = ['--namespace', release.namespace]

describe('a release of the chart', () => {
  const images = new ImageFiles()
  let helm: Helm
  let kubernetes: Kubernetes
  let released: ReleasedOperator
  let operator: OperatorProcess
  let ports: OperatorProcess['ports']
  let flags: string[]
  let team: string

  before(async () => {
    await images.build()
    helm = await buildHelm()
    kubernetes = await startKubernetes({ nodes: 5 })
    released = new ReleasedOperator(kubernetes, images)
    const [webhooks = 0, probes = 0, metrics = 0] = await freePorts(3)
    ports = { webhooks, probes, metrics }
    flags = [
      ...valuesFlags(kubernetes.directory, values(ports)),
      '--post-renderer',
      servicesToThisMachine(kubernetes.directory),
    ]
    team = await kubernetes.newNamespace('team')
  })

  after(async () => {
    operator?.kill()
    await kubernetes?.stop()
    images.remove()
  })

  test('installs, and names the next commands', async () => {
    const notes = await helmRun(
      'install',
      release.name,
      chartFolder,
      '--create-namespace',
      '--wait',
      ...flags,
    )
    for (const command of [
      'kubectl rollout status deployment/grove-operator -n grove-system',
      'helm test grove-operator -n grove-system',
      'kubectl get podcliquesets,podcliques,podgangs -A',
    ])
      assert.ok(notes.includes(command), notes)
    const { items } = await released.json('pods', '-l', 'app.kubernetes.io/name=grove-operator', ...where)
    assert.equal((items as unknown[]).length, 2)
  })

  test('its operator becomes ready with the rights, the configuration and the certificates of the release', async () => {
    operator = await released.start(ports)
    assert.doesNotMatch(operator.output, /forbidden|unknown key|"level":"error"/i)
  })

  test('a set is defaulted, rolled out and deleted', async () => {
    await apply(manifest('brief', 2))
    const { spec } = await released.json('pcs', 'brief', '-n', team)
    assert.equal(at(spec, 'template.terminationDelay'), '4h0m0s')
    assert.equal(at(spec, 'template.cliques.0.spec.minAvailable'), 2)
    await available('brief')
    const { code, stderr } = await kubernetes.kubectl('delete', 'pcs', 'brief', '-n', team)
    assert.equal(code, 0, stderr)
    await waitFor('nothing left', async () => (await names('pods,pclq,pg')).length === 0)
  })

  test('a wrong set is rejected with the rule that it breaks', async () => {
    const input = manifest('wrong', 2).replace('roleName: web', 'roleName: web\n          minAvailable: 3')
    const { code, stderr } = await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input })
    assert.notEqual(code, 0)
    assert.match(
      stderr,
      /admission webhook "pcs\.validating\.webhooks\.grove\.io" denied the request: .*minAvailable must not be greater/,
    )
  })

  test('helm test passes, and fails where no webhook server responds', async () => {
    const [pod] = documents(await helmRun('get', 'hooks', release.name))
    const command = at(pod, 'spec.containers.0.command') as string[]
    const check = (port: number) =>
      ended(images.spawn('operator', { command }, { GROVE_WEBHOOKS: `https://127.0.0.1:${port}` }))
    const passed = await check(ports.webhooks)
    assert.equal(passed.code, 0, passed.output)
    const failed = await check(ports.probes)
    assert.equal(failed.code, 1)
    assert.match(failed.output, /does not respond as expected/)
  })

  test('metrics are served to the service account of Prometheus only', async () => {
    await kubernetes.kubectl('create', 'serviceaccount', 'prometheus', ...where)
    await kubernetes.kubectl('create', 'serviceaccount', 'stranger', ...where)
    const status = async (account: string) => {
      const { stdout } = await kubernetes.kubectl('create', 'token', account, ...where)
      return statusOf(ports.metrics, { authorization: `Bearer ${stdout.trim()}` })
    }
    assert.equal(await statusOf(ports.metrics, {}), 401)
    assert.equal(await status('stranger'), 403)
    assert.equal(await status('prometheus'), 200)
  })

  test('the built-in role edit lets its users create sets, and view only read them', async () => {
    for (const role of ['view', 'edit'])
      await kubernetes.kubectl(
        'create',
        'rolebinding',
        role,
        `--clusterrole=${role}`,
        `--user=${role}er`,
        '-n',
        team,
      )
    const can = async (verb: string, user: string) => {
      const { stdout } = await kubernetes.kubectl(
        'auth',
        'can-i',
        verb,
        'podcliquesets.grove.io',
        '-n',
        team,
        `--as=${user}`,
      )
      return stdout.trim()
    }
    await waitFor('the roles to be aggregated', async () => (await can('list', 'viewer')) === 'yes')
    assert.deepEqual([await can('create', 'viewer'), await can('create', 'editer')], ['no', 'yes'])
  })

  test('a second upgrade with the same values changes no object', async () => {
    const before = await objectVersions(await helmRun('get', 'manifest', release.name))
    assert.ok(before.size >= 15)
    await helmRun('upgrade', release.name, chartFolder, '--wait', ...flags)
    assert.deepEqual(await objectVersions(await helmRun('get', 'manifest', release.name)), before)
    await apply(manifest('kept', 2))
    await available('kept')
  })

  test('uninstalling leaves workloads and CRDs, and the next installation goes on with the same pods', async () => {
    const before = await podUids()
    operator.child.kill('SIGTERM')
    await waitFor('the operator to end', () => operator.child.exitCode !== null)
    await helmRun('uninstall', release.name, '--wait')
    assert.deepEqual(await names('pcs'), ['podcliqueset.grove.io/kept'])
    assert.deepEqual(await podUids(), before)
    await helmRun('install', release.name, chartFolder, '--wait', ...flags)
    operator = await released.start(ports)
    const { code, stderr } = await kubernetes.kubectl('scale', 'pclq/kept-0-web', '--replicas=3', '-n', team)
    assert.equal(code, 0, stderr)
    await waitFor('the operator to act', async () => (await podUids()).length === 3)
    const now = await podUids()
    assert.deepEqual(
      before.filter(uid => !now.includes(uid)),
      [],
    )
  })

  test('plain manifests replace the release, and applied again they change no object', async () => {
    operator.child.kill('SIGTERM')
    await waitFor('the operator to end', () => operator.child.exitCode !== null)
    await helmRun('uninstall', release.name, '--wait')
    const template = ['template', release.name, chartFolder, '--skip-tests', '--include-crds', ...flags]
    const manifests = await helmRun(...template)
    const applyManifests = async () => {
      const words = ['apply', '--server-side', '--force-conflicts', '-f', '-']
      const { code, stderr } = await kubernetes.kubectl(...words, { input: manifests })
      assert.equal(code, 0, stderr)
    }
    await applyManifests()
    operator = await released.start(ports)
    await waitFor('the pods of the operator', async () => {
      const { status } = await released.json('deployment', 'grove-operator', ...where)
      return at(status, 'availableReplicas') === 2
    })
    const before = await objectVersions(manifests)
    await applyManifests()
    assert.deepEqual(await objectVersions(manifests), before)
    const { code, stderr } = await kubernetes.kubectl('scale', 'pclq/kept-0-web', '--replicas=4', '-n', team)
    assert.equal(code, 0, stderr)
    await waitFor('the operator to act', async () => (await podUids()).length === 4)
  })

  async function helmRun(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await helm.run([...words, ...where], {
      kubeconfig: kubernetes.kubeconfig,
    })
    assert.equal(code, 0, stderr)
    return stdout
  }

  async function apply(input: string): Promise<void> {
    const { code, stderr } = await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input })
    assert.equal(code, 0, stderr)
  }

  async function available(name: string): Promise<void> {
    await waitFor('the set to be available', async () => {
      const { status } = await released.json('pcs', name, '-n', team)
      return at(status, 'availableReplicas') === 1
    })
  }

  async function names(what: string): Promise<string[]> {
    const { stdout } = await kubernetes.kubectl('get', what, '-n', team, '-o', 'name')
    return stdout.split('\n').filter(Boolean)
  }

  async function podUids(): Promise<string[]> {
    const { items } = await released.json('pods', '-n', team)
    return (items as Rendered[]).map(({ metadata }) => metadata?.uid ?? '').sort()
  }

  /** The resourceVersion of every object that the manifests name. */
  async function objectVersions(input: string): Promise<ReadonlyMap<string, string | undefined>> {
    const { code, stdout, stderr } = await kubernetes.kubectl('get', '-f', '-', '-o', 'json', { input })
    assert.equal(code, 0, stderr)
    const { items } = JSON.parse(stdout) as { items: Rendered[] }
    return new Map(
      items.map(({ kind, metadata }) => [`${kind} ${metadata?.name}`, metadata?.resourceVersion]),
    )
  }
})

function values(ports: OperatorProcess['ports']): object {
  const bindAddress = '127.0.0.1'
  return {
    config: {
      server: {
        webhooks: { bindAddress, port: ports.webhooks },
        healthProbes: { bindAddress, port: ports.probes },
        metrics: { bindAddress, port: ports.metrics },
      },
    },
    metrics: { serviceMonitor: { serviceAccount: { name: 'prometheus', namespace: release.namespace } } },
  }
}

function statusOf(port: number, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path: '/metrics',
      headers,
      rejectUnauthorized: false,
      agent: false,
    }
    request(options, response => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
      .on('error', reject)
      .end()
  })
}

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
