// SPDX-License-Identifier: Apache-2.0

// Memory and processor time of the dashboard process: `npm run bench -- dashboard [--pods N] [--record]`. The process
// runs from its bundle, against an embedded API server in this process, with 100 pods per set and 8 per node.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { customResourceDefinitions } from '@grove/api'
import { defineResource, type KubeObject } from '@grove/kube'
import { freePorts } from '@grove/test-kubernetes'
import { embeddedHost } from '@grove/test-scenarios'
import { bundle } from '../../../tools/packaging/bundle.ts'
import type { OverviewDocument } from '../src/documents/types.ts'
import { setManifests } from '../src/testing/objects.ts'

const { values } = parseArgs({
  options: { pods: { type: 'string', default: '5000' }, record: { type: 'boolean', default: false } },
})
const podsOfSet = 100
const podsOfNode = 8
const sets = Math.ceil(Number(values.pods) / podsOfSet)
const pages = 10

const host = await embeddedHost()
const folder = mkdtempSync(join(tmpdir(), 'grove-dashboard-bench-'))
let child: ChildProcess | undefined
try {
  for (const definition of customResourceDefinitions) await host.apply([definition])
  for (let index = 0; index < (sets * podsOfSet) / podsOfNode; index++)
    await host.apply([
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: `node-${index}`, labels: { 'topology.kubernetes.io/zone': `zone-${index % 4}` } },
      },
    ])
  const all = Array.from({ length: sets }, (_, index) =>
    setManifests({ namespace: 'default', name: `set-${index}`, pods: podsOfSet, readyPods: podsOfSet }),
  )
  for (const { set, clique, gang, pods } of all)
    await Promise.all([set, clique, gang, ...pods.map(likeInProduction)].map(createWithStatus))

  const program = join(folder, 'dashboard.mjs')
  writeFileSync(program, (await bundle('packages/dashboard/src/main.ts')).code)
  const [port = 0, probes = 0] = await freePorts(2)
  const kubeconfig = host.kubeconfigFor({ user: 'kubernetes-admin', groups: ['system:masters'] })
  const args = [`--port=${port}`, `--probes-port=${probes}`, '--probes-bind-address=127.0.0.1']
  child = spawn(process.execPath, [program, ...args], {
    env: { KUBECONFIG: kubeconfig, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const read = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined)
    return response?.ok ? response.text() : undefined
  }
  let overview: Partial<OverviewDocument> | undefined
  while (overview?.totals?.readyPods !== sets * podsOfSet) {
    overview = JSON.parse((await read('/api/overview')) ?? '{}') as Partial<OverviewDocument>
    await new Promise(done => setTimeout(done, 200))
  }
  const synced = memoryOf(child.pid!)
  const started = processorMs(child.pid!)
  const sizes: Record<string, number> = {}
  for (const path of ['/api/overview', '/api/nodes', '/api/sets/default/set-0']) {
    for (let page = 0; page < pages; page++) {
      // The same revision would be computed once.
      await touch(page)
      sizes[path] = Buffer.byteLength((await read(path)) ?? '')
    }
  }
  const result = {
    pods: sets * podsOfSet,
    sets,
    nodes: Math.ceil((sets * podsOfSet) / podsOfNode),
    residentMiB: {
      synced: synced.resident,
      afterPages: memoryOf(child.pid!).resident,
      peak: memoryOf(child.pid!).peak,
    },
    processorMsPerPage: Math.round((processorMs(child.pid!) - started) / (3 * pages)),
    documentKiB: Object.fromEntries(
      Object.entries(sizes).map(([path, bytes]) => [path, Math.round(bytes / 1024)]),
    ),
    node: process.version,
    processors: availableParallelism(),
  }
  console.log(JSON.stringify(result, undefined, 2))
  if (values.record)
    writeFileSync(
      resolve(import.meta.dirname, '../../../bench/results/dashboard.json'),
      `${JSON.stringify(result, undefined, 2)}\n`,
    )
} finally {
  child?.kill()
  await host.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** Pods of inference engines have long specs, which the dashboard reads and drops. */
function likeInProduction(pod: KubeObject): KubeObject {
  const { spec, ...rest } = pod as KubeObject & { spec: { containers: object[] } }
  const env = Array.from({ length: 40 }, (_, index) => ({
    name: `ENGINE_SETTING_${index}`,
    value: `a value of about forty characters, ${index}`,
  }))
  const volumeMounts = Array.from({ length: 6 }, (_, index) => ({
    name: `v-${index}`,
    mountPath: `/data/${index}`,
  }))
  const volumes = volumeMounts.map(({ name }) => ({ name, emptyDir: {} }))
  const containers = spec.containers.map(container => ({ ...container, env, volumeMounts }))
  return { ...rest, spec: { ...spec, volumes, containers } } as KubeObject
}

async function createWithStatus(object: KubeObject): Promise<void> {
  const { apiVersion = '', kind = '', metadata = {} } = object
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const resource = `${kind.toLowerCase()}s`
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  await host.client.create(
    defineResource<KubeObject>({ group, version, resource, kind, namespaced: true }),
    object,
  )
  await host.client.raw({
    verb: 'patch',
    method: 'PATCH',
    path: `${base}/namespaces/${metadata.namespace}/${resource}/${metadata.name}/status`,
    contentType: 'application/merge-patch+json',
    body: { status: (object as { status?: object }).status },
  })
}

/** Changes an object, so that the next page belongs to another revision. */
async function touch(value: number): Promise<void> {
  await host.client.raw({
    verb: 'patch',
    method: 'PATCH',
    path: '/apis/grove.io/v1alpha1/namespaces/default/podcliquesets/set-0',
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations: { touched: String(value) } } },
  })
  // Longer than changes are coalesced.
  await new Promise(done => setTimeout(done, 600))
}

function memoryOf(pid: number): { resident: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (field: string) =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024)
  return { resident: mebibytes('VmRSS'), peak: mebibytes('VmHWM') }
}

/** Linux counts in ticks of 10 ms. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
