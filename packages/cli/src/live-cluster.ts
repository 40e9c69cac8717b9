// SPDX-License-Identifier: Apache-2.0

// Which cluster a command talks to, and how its refusals are told.
import { existsSync } from 'node:fs'
import {
  type Client,
  type ClusterConfig,
  createClient,
  inClusterConfig,
  isInCluster,
  isKubeError,
  type KubeError,
  kubeconfigPaths,
  loadKubeconfig,
} from '@grove/kube'
import { CommandError } from './command-error.ts'
import { localKubeconfigs } from './local-clusters.ts'
import { printNote } from './print.ts'

export interface ClusterOptions {
  readonly namespace?: string
  readonly kubeconfig?: string
  readonly context?: string
  /** The cluster of a running `grove up`, whatever the environment says. */
  readonly local?: boolean
}

export interface LiveCluster {
  readonly client: Client
  readonly namespace: string
  readonly server: string
}

/** A person waits: a cluster that does not answer is given up sooner than a controller would. */
const requestTimeoutMs = 30_000

/** Does the work on the cluster that the options name, and says what went wrong as a person would want to hear it. */
export async function withCluster<T>(
  options: ClusterOptions,
  work: (cluster: LiveCluster) => Promise<T>,
): Promise<T> {
  const cluster = liveCluster(options)
  try {
    return await work(cluster)
  } catch (error) {
    throw isKubeError(error) ? refusal(error, cluster) : error
  } finally {
    await cluster.client.close()
  }
}

function liveCluster(options: ClusterOptions): LiveCluster {
  let config: ClusterConfig
  try {
    config = configFor(options)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`no cluster to talk to: ${error instanceof Error ? error.message : String(error)}`)
  }
  return {
    client: createClient(config, {
      userAgent: 'grove-cli',
      timeoutMs: requestTimeoutMs,
      retry: { failedAttempts: 2 },
      onWarning: text => printNote(`Warning: ${text}`),
    }),
    namespace: options.namespace ?? config.namespace,
    server: config.server,
  }
}

/** As kubectl: the file named, that of KUBECONFIG, ~/.kube/config. Without any, the cluster of `grove up`, then the one
 * that this process runs in. */
function configFor({ kubeconfig: path, context, local }: ClusterOptions): ClusterConfig {
  if (local) {
    const youngest = youngestHere()
    if (youngest === undefined) throw new CommandError('no `grove up` runs here; start one')
    return loadKubeconfig({ path: youngest })
  }
  const isTold =
    path !== undefined || context !== undefined || kubeconfigPaths(process.env).some(file => existsSync(file))
  if (!isTold && !process.env.KUBECONFIG) {
    const youngest = youngestHere()
    if (youngest !== undefined) return loadKubeconfig({ path: youngest })
    if (isInCluster()) return inClusterConfig()
    throw new CommandError(
      'no cluster to talk to: there is no kubeconfig, and no `grove up` runs here; start one, or set KUBECONFIG',
    )
  }
  return loadKubeconfig({ ...(path !== undefined && { path }), ...(context !== undefined && { context }) })
}

/** Where there are several, says which one it is. */
function youngestHere(): string | undefined {
  const [youngest, ...others] = localKubeconfigs()
  if (others.length > 0)
    printNote(`${others.length + 1} clusters run here; this is the youngest, ${youngest}`)
  return youngest
}

/** The words that people know from kubectl, so that they find help. */
export function refusal(error: KubeError, { server }: Pick<LiveCluster, 'server'>): CommandError {
  switch (error.code) {
    case 'Network':
      return new CommandError(`cannot reach the cluster at ${server}: ${causeOf(error)}; is it running?`, 1)
    case 'Credentials':
      return new CommandError(`cannot log in to the cluster at ${server}: ${error.message}`, 1)
    default:
      return new CommandError(serverWords(error), 1)
  }
}

export function serverWords(error: KubeError): string {
  return `Error from server${error.reason ? ` (${error.reason})` : ''}: ${error.message}`
}

function causeOf({ cause, message }: KubeError): string {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED')
    return 'nothing listens there'
  return cause instanceof Error ? cause.message : message
}
