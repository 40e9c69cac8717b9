// SPDX-License-Identifier: Apache-2.0

// `grove up`: a cluster to try gangs on, and a look at one coming to life.
import type { NodePlan } from '@grove/cluster'
import { plainNodes } from '@grove/cluster'
import { CommandError } from '../command-error.ts'
import { readConfigurationFile } from '../configuration-file.ts'
import { claimRunFolder, releaseRunFolder } from '../local-clusters.ts'
import { wholeNumber } from '../options.ts'
import { printLines } from '../print.ts'
import { terminal } from '../terminal.ts'
import { readDemo, showDemo } from './up/demo.ts'
import { requireWritable, writeKubeconfig } from './up/kubeconfig-file.ts'
import { startLocalCluster } from './up/local-cluster.ts'
import { localConfiguration } from './up/local-configuration.ts'
import { defaultWorkload } from './up/playground.ts'
import { stopAsked } from './up/stop-asked.ts'
import { readTopologyFile } from './up/topology-file.ts'
import { readyWords, welcome, whatNext } from './up/words.ts'

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
  // Whatever the user can get wrong is looked at before anything starts.
  if (options.exitWhenReady && !options.demo)
    throw new CommandError('--exit-when-ready waits for the workload of --demo, which is not given')
  const demo = options.demo
    ? await readDemo(options.demo === true ? defaultWorkload : options.demo)
    : undefined
  const file = options.config ?? demo?.configuration
  const configuration = file === undefined ? localConfiguration() : await readConfigurationFile(file)
  const nodes = await nodesOf(options)
  const port = options.port === undefined ? undefined : portOf(options.port)
  if (options.kubeconfig !== undefined) requireWritable(options.kubeconfig)

  const folder = claimRunFolder()
  const stop = stopAsked(() => releaseRunFolder(folder))
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
      printLines(welcome({ url: cluster.front.url, nodes: cluster.nodeCount, kubeconfig }))
      const exitWhenReady = options.exitWhenReady ?? false
      if (!demo) {
        printLines(['Ctrl-C ends it.'])
        await stop.promise
      } else {
        const wasReady = await showDemo(cluster, demo, {
          signal: stop.signal,
          exitWhenReady,
          whatNext: shown =>
            exitWhenReady ? readyWords(shown) : whatNext(shown, kubeconfig, terminal().stdout.columns),
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
      throw new CommandError('--topology says which nodes there are: leave --nodes and --gpus out')
    return readTopologyFile(topology)
  }
  const count = wholeNumber('--nodes', nodes ?? defaultNodes)
  if (count > mostNodes) throw new CommandError(`--nodes ${count} is too many; ${mostNodes} is the most`)
  return plainNodes(count, { gpus: wholeNumber('--gpus', gpus ?? defaultGpus) })
}

function portOf(text: string): number {
  const port = wholeNumber('--port', text)
  if (port > 65_535) throw new CommandError(`--port must be below 65536, not ${port}`)
  return port
}
