// SPDX-License-Identifier: Apache-2.0

// `grove up` starts a simulated cluster to try gangs on, and shows how a workload becomes ready.
import { enabledSchedulers, scheduler } from '@grove/api'
import type { NodePlan } from '@grove/cluster'
import { plainNodes } from '@grove/cluster'
import { claimRunFolder, releaseRunFolder } from '../clusters/local-clusters.ts'
import { CommandError } from '../command-error.ts'
import { readConfigurationFile } from '../manifests/configuration-file.ts'
import { printLines } from '../terminal/print.ts'
import { columnsOf, terminal } from '../terminal/terminal.ts'
import { portNumber, wholeNumber } from './options.ts'
import { readDemo, showDemo } from './up/demo.ts'
import { requireWritable, writeKubeconfig } from './up/kubeconfig-file.ts'
import { startLocalCluster } from './up/local-cluster.ts'
import { localConfiguration } from './up/local-configuration.ts'
import { readyMessage, welcome, whatNext } from './up/messages.ts'
import { defaultWorkload } from './up/playground.ts'
import { stopSignal } from './up/stop-signal.ts'
import { readTopologyFile } from './up/topology-file.ts'

export interface UpOptions {
  readonly nodes?: string
  readonly gpus?: string
  readonly topology?: string
  readonly port?: string
  readonly kubeconfig?: string
  readonly data?: string
  readonly config?: string
  readonly demo?: boolean | string
  readonly exitWhenReady?: boolean
}

const defaultNodes = '32'
const defaultGpus = '8'
const mostNodes = 20_000

export async function up(options: UpOptions): Promise<number> {
  // Check all options before anything starts.
  if (options.exitWhenReady && !options.demo) throw new CommandError('--exit-when-ready requires --demo')
  const demo = options.demo
    ? await readDemo(options.demo === true ? defaultWorkload : options.demo)
    : undefined
  const file = options.config ?? demo?.configuration
  const configuration = file === undefined ? localConfiguration() : await readConfigurationFile(file)
  if (enabledSchedulers(configuration).has(scheduler.kubernetes))
    throw new CommandError(
      `${file}: the local cluster does not serve the Workload API of scheduler profile "${scheduler.kubernetes}"; remove the profile, or use a cluster with Kubernetes 1.37`,
    )
  const nodes = await nodesOf(options)
  const port = options.port === undefined ? undefined : portNumber('--port', options.port)
  if (options.kubeconfig !== undefined) requireWritable(options.kubeconfig)

  const folder = claimRunFolder()
  const stop = stopSignal(() => releaseRunFolder(folder))
  try {
    const cluster = await startLocalCluster({
      configuration,
      nodes,
      ...(demo && { definitions: demo.definitions }),
      ...(port !== undefined && { port }),
      ...(options.data !== undefined && { dataDirectory: options.data }),
    })
    try {
      const kubeconfig = writeKubeconfig(cluster.front.kubeconfig, folder, options.kubeconfig)
      const columns = columnsOf(terminal())
      printLines(welcome({ url: cluster.front.url, nodes: cluster.nodeCount, kubeconfig }, columns))
      const exitWhenReady = options.exitWhenReady ?? false
      if (!demo) {
        printLines(['Press Ctrl-C to stop it.'])
        await stop.promise
      } else {
        const wasReady = await showDemo(cluster, demo, {
          signal: stop.signal,
          exitWhenReady,
          whatNext: shown => (exitWhenReady ? readyMessage(shown) : whatNext(shown, kubeconfig, columns)),
        })
        if (exitWhenReady && !wasReady) return 1
      }
      return 0
    } finally {
      await cluster.stop()
    }
  } finally {
    releaseRunFolder(folder)
    stop.forget()
  }
}

async function nodesOf({ topology, nodes, gpus }: UpOptions): Promise<NodePlan[]> {
  if (topology !== undefined) {
    if (nodes !== undefined || gpus !== undefined)
      throw new CommandError('--topology cannot be combined with --nodes or --gpus')
    return readTopologyFile(topology)
  }
  const count = wholeNumber('--nodes', nodes ?? defaultNodes)
  if (count > mostNodes) throw new CommandError(`--nodes ${count} is too many; the maximum is ${mostNodes}`)
  return plainNodes(count, { gpus: wholeNumber('--gpus', gpus ?? defaultGpus) })
}
