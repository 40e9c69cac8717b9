// SPDX-License-Identifier: Apache-2.0

// Connects a command to a cluster, and converts errors of the cluster into messages.
import { existsSync } from 'node:fs'
import { inClusterConfig, isInCluster, kubeconfigPaths, loadKubeconfig } from '@grove/kube/auth'
import {
  type Client,
  type ClusterConfig,
  createClient,
  isKubeError,
  type KubeError,
} from '@grove/kube/client'
import { CommandError } from '../command-error.ts'
import { printNote } from '../terminal/print.ts'
import { localKubeconfigs } from './local-clusters.ts'

export interface ClusterOptions {
  readonly namespace?: string
  readonly kubeconfig?: string
  readonly context?: string
  /** Use the cluster of a running `grove up`, ignoring the environment. */
  readonly local?: boolean
  /** Maximum time of one request. */
  readonly timeoutMs?: number
}

export interface LiveCluster {
  readonly client: Client
  readonly namespace: string
  readonly server: string
}

/** Shorter than the timeout of a controller, because a user waits. */
const requestTimeoutMs = 30_000

/** Runs the work on the cluster that the options select, and converts errors into messages for the user. */
export async function withCluster<T>(
  options: ClusterOptions,
  work: (cluster: LiveCluster) => Promise<T>,
): Promise<T> {
  const cluster = liveCluster(options)
  try {
    return await work(cluster)
  } catch (error) {
    throw isKubeError(error) ? commandError(error, cluster) : error
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
    throw new CommandError(`no cluster found: ${error instanceof Error ? error.message : String(error)}`)
  }
  return {
    client: createClient(config, {
      userAgent: 'grove-cli',
      timeoutMs: options.timeoutMs ?? requestTimeoutMs,
      retry: { failedAttempts: 2 },
      onWarning: text => printNote(`Warning: ${text}`),
    }),
    namespace: options.namespace ?? config.namespace,
    server: config.server,
  }
}

/**
 * The kubeconfig as in kubectl: the given file, then KUBECONFIG, then ~/.kube/config. Without any, the cluster of
 * `grove up`, then the in-cluster configuration.
 */
function configFor({ kubeconfig: path, context, local }: ClusterOptions): ClusterConfig {
  if (local) {
    const youngest = youngestHere()
    if (youngest === undefined) throw new CommandError('there is no running `grove up`; start one')
    return loadKubeconfig({ path: youngest })
  }
  const isConfigured =
    path !== undefined || context !== undefined || kubeconfigPaths(process.env).some(file => existsSync(file))
  if (!isConfigured && !process.env.KUBECONFIG) {
    const youngest = youngestHere()
    if (youngest !== undefined) return loadKubeconfig({ path: youngest })
    if (isInCluster()) return inClusterConfig()
    throw new CommandError(
      'no cluster found: there is no kubeconfig and no running `grove up`; start one, or set KUBECONFIG',
    )
  }
  return loadKubeconfig({ ...(path !== undefined && { path }), ...(context !== undefined && { context }) })
}

/** Prints which cluster is used if there are several. */
function youngestHere(): string | undefined {
  const [youngest, ...others] = localKubeconfigs()
  if (others.length > 0)
    printNote(`${others.length + 1} local clusters are running; using the newest, ${youngest}`)
  return youngest
}

/** Uses the error texts of kubectl, so that users can search for them. */
function commandError(error: KubeError, { server }: Pick<LiveCluster, 'server'>): CommandError {
  switch (error.code) {
    case 'Network':
      return new CommandError(`cannot reach the cluster at ${server}: ${causeOf(error)}; is it running?`, 1)
    case 'Credentials':
      return new CommandError(`cannot log in to the cluster at ${server}: ${error.message}`, 1)
    default:
      return new CommandError(serverMessage(error), 1)
  }
}

export function serverMessage({ reason, message }: KubeError, text = message): string {
  return `Error from server${reason ? ` (${reason})` : ''}: ${text}`
}

function causeOf({ cause, message }: KubeError): string {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED') return 'connection refused'
  return cause instanceof Error ? cause.message : message
}
