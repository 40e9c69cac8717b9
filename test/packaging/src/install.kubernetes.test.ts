// SPDX-License-Identifier: Apache-2.0

// From helm install to helm uninstall on a real control plane. The pods of the release are simulated, so the operator
// runs outside, with everything that the release gives them.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { OverviewDocument, SetDocument } from '@grove/dashboard'
import {
  buildHelm,
  freePorts,
  type Helm,
  type Kubernetes,
  startKubernetes,
  waitFor,
} from '@grove/test-kubernetes'
import type { OperatorProcess } from '@grove/test-scenarios'
import { blocksOfTest, type PageBlock } from '../../../tools/checks/markdown.ts'
import { ImageFiles } from './image-process.ts'
import { PageCommands } from './page-commands.ts'
import { servicesToThisMachine } from './post-renderer.ts'
import { ended, ReleasedOperator } from './released-operator.ts'
import { at, chartFolder, type Rendered, release, repository, valuesFlags } from './rendered-chart.ts'

const logsPage = 'docs/operations/logs.md'
const waitPage = 'docs/guides/wait-and-diagnose.md'
/** Blocks that need a running operator, with their headings. */
const blocks = blocksOfTest(repository, 'test/packaging/src/install.kubernetes.test.ts')
const headings: readonly (readonly [page: string, heading: string])[] = [
  [waitPage, 'Wait'],
  [waitPage, 'A set that does not become available'],
  ['docs/operations/install.md', 'With Helm'],
  [logsPage, 'Logs'],
  [logsPage, 'Levels'],
]

/** The guide about waiting applies a set that needs 19. */
const nodeCount = 20
const where = ['--namespace', release.namespace]

describe('a release of the chart', () => {
  const images = new ImageFiles()
  let helm: Helm
  let kubernetes: Kubernetes
  let released: ReleasedOperator
  let operator: OperatorProcess
  let ports: OperatorProcess['ports']
  let dashboardPorts: DashboardPorts
  let commands: PageCommands
  let operatorLogFile: string
  let flags: string[]
  let team: string

  before(async () => {
    await images.build()
    helm = await buildHelm()
    const [webhooks = 0, probes = 0, metrics = 0, port = 0, probesPort = 0] = await freePorts(5)
    ports = { webhooks, probes, metrics }
    dashboardPorts = { port, probesPort }
    operatorLogFile = join(images.folder, 'operator.log')
    kubernetes = await startKubernetes({ nodes: nodeCount, gpus: 8, stages: kubeletOfOperator() })
    released = new ReleasedOperator(kubernetes, images)
    commands = new PageCommands(kubernetes, helm, repository)
    flags = [
      ...valuesFlags(kubernetes.directory, values(ports, dashboardPorts)),
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
      `kubectl port-forward -n grove-system service/grove-dashboard ${dashboardPorts.port}`,
    ])
      assert.ok(notes.includes(command), notes)
    const { items } = await released.json('pods', '-l', 'app.kubernetes.io/name=grove-operator', ...where)
    assert.equal((items as unknown[]).length, 2)
  })

  test('its operator becomes ready with the permissions, the configuration and the certificates of the release', async () => {
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

  test('its dashboard shows a set with the permissions of the release, which allow only reading', async () => {
    const dashboard = await released.spawn('grove-dashboard', '--probes-bind-address=127.0.0.1')
    let output = ''
    for (const stream of [dashboard.stdout!, dashboard.stderr!]) stream.on('data', chunk => (output += chunk))
    const document = async <T>(path: string) => {
      const response = await fetch(`http://127.0.0.1:${dashboardPorts.port}${path}`)
      const text = await response.text()
      assert.equal(response.status, 200, text)
      return JSON.parse(text) as T
    }
    try {
      await waitFor('the dashboard to be ready', async () => {
        const response = await fetch(`http://127.0.0.1:${dashboardPorts.probesPort}/readyz`).catch(() => {})
        return response?.status === 200
      })
      await apply(manifest('shown', 2))
      await available('shown')
      await waitFor('the dashboard to show the set', async () => {
        const { sets } = await document<OverviewDocument>('/api/overview')
        const shown = sets.find(({ name }) => name === 'shown')
        return shown?.state === 'Available' && shown.readyPods === 2
      })
      await waitFor('its events', async () => {
        const { events } = await document<SetDocument>(`/api/sets/${team}/shown`)
        return events.some(({ kind }) => kind === 'PodCliqueSet')
      })
      const { pods, gangs } = await document<SetDocument>(`/api/sets/${team}/shown`)
      assert.deepEqual(
        pods['shown-0-web']?.rows.map(({ state }) => state),
        ['Ready', 'Ready'],
      )
      assert.deepEqual(
        gangs.map(({ name }) => name),
        ['shown-0'],
      )
      const nodes = await document<{ root: { nodes: number }; notes: { problems: unknown[] } }>('/api/nodes')
      assert.equal(nodes.root.nodes, nodeCount)
      // Every kind can be read, and no request was denied.
      assert.deepEqual(nodes.notes.problems, [])
      assert.doesNotMatch(output, /forbidden|"level":"error"/i)
    } finally {
      dashboard.kill('SIGTERM')
      await waitFor(
        'the dashboard to end',
        () => dashboard.exitCode !== null || dashboard.signalCode !== null,
      )
      await kubernetes.kubectl('delete', 'pcs', 'shown', '-n', team)
      await waitFor('nothing left', async () => (await names('pods,pclq,pg')).length === 0)
    }
    assert.equal(dashboard.exitCode, 0, output)
    const account = `system:serviceaccount:${release.namespace}:grove-dashboard`
    const can = async (verb: string, resource: string) => {
      const args = ['auth', 'can-i', verb, resource, '-A', `--as=${account}`]
      return (await kubernetes.kubectl(...args)).stdout.trim()
    }
    for (const [verb, resource] of [
      ['create', 'podcliquesets.grove.io'],
      ['delete', 'pods'],
      ['patch', 'nodes'],
      ['list', 'secrets'],
      ['list', 'configmaps'],
    ] as const)
      assert.equal(await can(verb, resource), 'no', `${verb} ${resource}`)
    assert.equal(await can('list', 'pods'), 'yes')
  })

  test('rejects an invalid set with the violated rule', async () => {
    const input = manifest('wrong', 2).replace('roleName: web', 'roleName: web\n          minAvailable: 3')
    const { code, stderr } = await kubernetes.kubectl('apply', '-n', team, '-f', '-', { input })
    assert.notEqual(code, 0)
    assert.match(
      stderr,
      /admission webhook "pcs\.validating\.webhooks\.grove\.io" denied the request: .*minAvailable must not be greater/,
    )
  })

  test('helm test passes, and fails if no webhook server responds', async () => {
    const passing = commands.run(blockOf('docs/operations/install.md', 'With Helm'))
    const output = await runTestPod(ports.webhooks)
    assert.match(await passing.catch(error => `${error.message}${output}`), /Phase: +Succeeded/)
    const failing = helm.run(['test', release.name, ...where], { kubeconfig: kubernetes.kubeconfig })
    assert.match(await runTestPod(ports.probes), /does not respond as expected/)
    assert.equal((await failing).code, 1)
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

  test('every block of the pages that needs a running operator is executed here', () => {
    assert.deepEqual(
      blocks.map(({ page, heading }) => [page, heading]),
      headings,
    )
  })

  test('the guide about waiting: a set becomes available', async () => {
    const waited = await commands.run(blockOf(waitPage, 'Wait'))
    assert.match(waited, /^podcliqueset\.grove\.io\/llm condition met$/m)
  })

  test('the log of the operator contains decisions about a set, and its level can be changed while it runs', async () => {
    const image = '/spec/template/cliques/0/spec/podSpec/containers/0/image'
    const edit = [{ op: 'replace', path: image, value: 'registry.example/inference/router:1.9' }]
    await kubectl('patch', 'pcs', 'llm', '--type=json', '-p', JSON.stringify(edit))
    await waitFor('the update', () => /"msg":"Update finished"/.test(operator.output))
    writeOperatorLog()
    const decisions = await commands.run(blockOf(logsPage, 'Logs'))
    for (const message of ['Update started', 'Replaced pods', 'Update finished'])
      assert.ok(decisions.includes(`"msg":"${message}"`), decisions)

    const name = 'jsonpath={.items[0].metadata.name}'
    const pod = await kubectl(
      'get',
      'pods',
      '-l',
      'app.kubernetes.io/name=grove-operator',
      '-o',
      name,
      ...where,
    )
    const isDebug = () => /"level":"debug".*"controller":"podclique"/.test(operator.output)
    assert.equal(isDebug(), false)
    await commands.run(blockOf(logsPage, 'Levels'), { POD: pod })
    await kubectl('delete', 'pcs', 'llm')
    await kubectl('wait', '--for=delete', 'pod', '-l', 'app.kubernetes.io/part-of=llm', '--timeout=120s')
    assert.ok(isDebug(), 'the reconciles of the deleted pods are logged')
  })

  test('the guide about waiting: every command shows why a set is stalled', async () => {
    await kubectl('cordon', '--selector=kubernetes.io/zone')
    try {
      await kubectl('apply', '-f', join(repository, 'playground/disaggregated/podcliqueset.yaml'))
      await kubectl('wait', '--for=condition=Stalled', 'pcs/llm', '--timeout=60s')
      const scheduled = 'jsonpath={.status.conditions[?(@.type=="Scheduled")].message}'
      const cause = await kubectl('get', 'podgang', 'llm-0', '-o', scheduled)
      assert.match(cause, /node\(s\) were unschedulable/)
      const block = blockOf(waitPage, 'A set that does not become available')
      for (const text of block.text.trimEnd().split('\n')) {
        const output = await commands.run({ ...block, text })
        const expected = /^kubectl get podgangs/.test(text) ? /^llm-0 +Pending/m : cause
        assert.ok(typeof expected === 'string' ? output.includes(expected) : expected.test(output), output)
      }
      await kubectl('delete', 'pcs', 'llm')
    } finally {
      await kubectl('uncordon', '--selector=kubernetes.io/zone')
    }
  })

  test('users of the built-in role edit can create sets, and users of view can only read them', async () => {
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

  test('uninstalling keeps workloads and CRDs, and the next installation keeps the same pods', async () => {
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
    await waitFor('the operator to reconcile', async () => (await podUids()).length === 3)
    const now = await podUids()
    assert.deepEqual(
      before.filter(uid => !now.includes(uid)),
      [],
    )
  })

  test('plain manifests replace the release, and applying them again changes no object', async () => {
    operator.child.kill('SIGTERM')
    await waitFor('the operator to end', () => operator.child.exitCode !== null)
    await helmRun('uninstall', release.name, '--wait')
    const template = ['template', release.name, chartFolder, '--skip-tests', '--include-crds', ...flags]
    const manifests = await helmRun(...template)
    const applyManifests = async () => {
      const args = ['apply', '--server-side', '--force-conflicts', '-f', '-']
      const { code, stderr } = await kubernetes.kubectl(...args, { input: manifests })
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
    await waitFor('the operator to reconcile', async () => (await podUids()).length === 4)
  })

  async function kubectl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await kubernetes.kubectl(...args)
    assert.equal(code, 0, stderr)
    return stdout
  }

  function blockOf(page: string, heading: string): PageBlock {
    return blocks.find(block => block.page === page && block.heading === heading)!
  }

  /**
   * Runs the pod of `helm test` as a kubelet would, but connects to the webhooks on this machine. Returns its output.
   */
  async function runTestPod(port: number): Promise<string> {
    const name = 'grove-operator-test'
    const pod = await waitFor('the pod of helm test', async () => {
      const { stdout } = await kubernetes.kubectl(
        ...['get', 'pod', name, '--ignore-not-found', '-o', 'json', ...where],
      )
      const found = stdout === '' ? undefined : (JSON.parse(stdout) as Rendered)
      return at(found, 'status.phase') === 'Running' && found
    })
    const command = at(pod, 'spec.containers.0.command') as string[]
    const { code, output } = await ended(
      images.spawn('operator', { command }, { GROVE_WEBHOOKS: `https://127.0.0.1:${port}` }),
    )
    const status = { status: { phase: code === 0 ? 'Succeeded' : 'Failed' } }
    const patch = ['patch', 'pod', name, '--subresource=status', '--type=merge', '-p', JSON.stringify(status)]
    const { code: patched, stderr } = await kubernetes.kubectl(...patch, ...where)
    assert.equal(patched, 0, stderr)
    return output
  }

  /** KWOK serves the log and the metrics port of the operator for the simulated pods of the release. */
  function kubeletOfOperator(): string {
    const selector = { matchNamespaces: [release.namespace] }
    const rule = (kind: string, spec: object) => ({
      apiVersion: 'kwok.x-k8s.io/v1alpha1',
      kind,
      metadata: { name: 'operator' },
      spec: { selector, ...spec },
    })
    const target = { address: '127.0.0.1', port: ports.metrics }
    return [
      rule('ClusterLogs', { logs: [{ logsFile: operatorLogFile }] }),
      rule('ClusterPortForward', { forwards: [{ ports: [9445], target }] }),
    ]
      .map(document => JSON.stringify(document))
      .join('\n---\n')
  }

  /** Writes the log in the format of container runtimes. */
  function writeOperatorLog(): void {
    const at = new Date().toISOString()
    const lines = operator.output.split('\n').filter(line => line !== '')
    writeFileSync(operatorLogFile, lines.map(line => `${at} stderr F ${line}\n`).join(''))
  }

  async function helmRun(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await helm.run([...args, ...where], {
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

interface DashboardPorts {
  readonly port: number
  readonly probesPort: number
}

function values(ports: OperatorProcess['ports'], dashboard: DashboardPorts): object {
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
    dashboard: { enabled: true, ...dashboard },
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
