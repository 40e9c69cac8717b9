// SPDX-License-Identifier: Apache-2.0

// `grove up`: a cluster to try gangs on, and a look at one coming to life.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { label, type PodCliqueSet } from '@grove/api'
import { isKubeError } from '@grove/kube'
import { isAvailable, resources, type StoredSet } from '@grove/operator'
import { CommandError } from '../command-error.ts'
import { readConfigurationFile } from '../configuration-file.ts'
import { readManifests } from '../manifest.ts'
import { wholeNumber } from '../options.ts'
import { setsAmong } from '../set-manifest.ts'
import { LiveView } from '../tree/live-view.ts'
import { coloured, plain, treeLines } from '../tree/set-tree.ts'
import { type LocalCluster, startLocalCluster } from './up/local-cluster.ts'

export interface UpOptions {
  readonly nodes: string
  readonly gpus: string
  readonly port?: string
  readonly kubeconfig?: string
  readonly data?: string
  readonly config?: string
  readonly demo?: boolean | string
  readonly exitWhenReady?: boolean
}

export const defaultDemo = resolve(
  import.meta.dirname,
  '../../../../playground/disaggregated/podcliqueset.yaml',
)
/** Long enough for the eye, short enough to see things happen. */
const redrawMs = 80
/** `--exit-when-ready` gives up after this: something is wrong with the workload. */
const readyWithinMs = 120_000

export async function up(options: UpOptions): Promise<number> {
  const stopped = stopAsked()
  const cluster = await startLocalCluster({
    configuration: await readConfigurationFile(options.config),
    nodes: wholeNumber('--nodes', options.nodes),
    gpusPerNode: wholeNumber('--gpus', options.gpus),
    ...(options.port !== undefined && { port: wholeNumber('--port', options.port) }),
    ...(options.data !== undefined && { dataDirectory: options.data }),
  })
  const folder = options.kubeconfig === undefined ? mkdtempSync(join(tmpdir(), 'grove-')) : undefined
  const kubeconfig = options.kubeconfig ?? join(folder!, 'kubeconfig')
  try {
    writeFileSync(kubeconfig, cluster.front.kubeconfig, { mode: 0o600 })
    process.stdout.write(welcome(cluster, kubeconfig, options.nodes))
    if (options.demo) {
      const ready = await showDemo(cluster, options.demo === true ? defaultDemo : options.demo, stopped)
      if (!ready) return options.exitWhenReady ? 1 : 0
      process.stdout.write(whatNext(kubeconfig, ready))
    }
    if (!options.exitWhenReady) await stopped.promise
    return 0
  } finally {
    await cluster.stop()
    if (folder) rmSync(folder, { recursive: true, force: true })
  }
}

/** Applies the sets of a file and shows the first until it is available; undefined when it was stopped before. */
async function showDemo(
  cluster: LocalCluster,
  path: string,
  stopped: StopAsked,
): Promise<string | undefined> {
  const documents = setsAmong(await readManifests([path]))
  const sets = documents.map(document => document.value as PodCliqueSet)
  for (const set of sets) {
    const object = { ...set, metadata: { ...set.metadata, namespace: set.metadata.namespace ?? 'default' } }
    try {
      await cluster.client.create(resources.podCliqueSets, object)
    } catch (error) {
      if (isKubeError(error, 'AlreadyExists')) continue
      if (isKubeError(error)) throw new CommandError(`${path}: ${error.message}`, 1)
      throw error
    }
  }
  const { name, namespace = 'default' } = sets[0]!.metadata
  const view = new LiveView(process.stdout)
  const paint = process.stdout.isTTY && !process.env.NO_COLOR ? coloured : plain
  const started = Date.now()
  process.stdout.write('\n')
  for (;;) {
    const set = cluster.operator.world.sets.get({ name, namespace })
    if (set) view.show(treeLines(objectsOf(cluster, set as StoredSet), paint))
    if (set && isAvailable(set as StoredSet) && everythingReady(cluster, set as StoredSet)) return name
    if (stopped.asked) return undefined
    if (Date.now() - started > readyWithinMs)
      throw new CommandError(
        `${name} was not ready within ${readyWithinMs / 1000} s; the tree above shows what it waits for`,
        1,
      )
    await new Promise(done => setTimeout(done, redrawMs))
  }
}

function objectsOf({ operator }: LocalCluster, set: StoredSet) {
  const { world } = operator
  const key = `${set.metadata.namespace}/${set.metadata.name}`
  const cliques = world.cliques.byIndex('set', key)
  return {
    set,
    groups: world.groups.byIndex('set', key),
    cliques,
    gangs: world.gangs.byIndex('controller', set.metadata.uid),
    pods: cliques.flatMap(clique => world.podsOf(clique)),
  }
}

function everythingReady(cluster: LocalCluster, set: StoredSet): boolean {
  const { cliques } = objectsOf(cluster, set)
  return cliques.every(clique => (clique.status?.readyReplicas ?? 0) >= clique.spec.replicas)
}

function welcome({ front }: LocalCluster, kubeconfig: string, nodes: string): string {
  return `A Kubernetes with ${nodes} simulated nodes and Grove is up at ${front.url}

  export KUBECONFIG=${kubeconfig}
  kubectl get nodes
`
}

function whatNext(kubeconfig: string, set: string): string {
  const sample = relative(process.cwd(), defaultDemo)
  return `
${set} is ready. In another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl get pcs,pcsg,pclq,pg,pods -l ${label.partOf}=${set}     # what it consists of
  kubectl scale pcsg ${set}-0-decode --replicas=4                   # one more group, one more gang
  kubectl delete pod -l ${label.partOf}=${set} --wait=false         # everything comes back
  kubectl delete pcs ${set}

The set is ${sample}. Ctrl-C ends the cluster.
`
}

interface StopAsked {
  readonly promise: Promise<void>
  readonly asked: boolean
}

function stopAsked(): StopAsked {
  const { promise, resolve: stop } = Promise.withResolvers<void>()
  const state = { promise, asked: false }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      state.asked = true
      stop()
    })
  return state
}
