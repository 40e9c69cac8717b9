// SPDX-License-Identifier: Apache-2.0

// The input of `grove plan` and `grove capacity`: sets from files, and a cluster from files or from its API server.
import type { OperatorConfiguration } from '@grove/api'
import type { SnapshotObjects } from '@grove/scheduler'
import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { localConfiguration } from '../commands/up/local-configuration.ts'
import { readConfigurationFile } from '../manifests/configuration-file.ts'
import { readManifestsOf } from '../manifests/manifest-folders.ts'
import { readClusterObjects } from './cluster-objects.ts'
import { type RenderedSet, renderSets } from './rendered-sets.ts'
import { snapshotObjects, withObjects } from './snapshot-documents.ts'

/** Of everything that the placement commands print as JSON. */
export const placementApiVersion = 'cli.grove.io/v1alpha1'

export interface PlacementOptions extends ClusterOptions {
  readonly filename?: readonly string[]
  readonly nodes?: readonly string[]
  readonly snapshot?: readonly string[]
  readonly config?: string
}

export interface PlacementInput {
  readonly objects: SnapshotObjects
  readonly sets: readonly RenderedSet[]
}

/** Reads everything. Every failure means that there is no result, so the exit code is 2. */
export function readPlacementInput(options: PlacementOptions): Promise<PlacementInput> {
  return withInputExitCode(async () => {
    const files = [...(options.nodes ?? []), ...(options.snapshot ?? [])]
    requireOneCluster(options, files)
    const documents = await readManifestsOf(options.filename ?? [])
    const configuration = await configurationOf(options.config)
    const cluster =
      files.length > 0
        ? snapshotObjects(await readManifestsOf(files))
        : await withCluster(options, ({ client }) => readClusterObjects(client))
    const objects = withObjects(cluster, snapshotObjects(documents))
    if (objects.nodes.length === 0)
      throw new CommandError(
        files.length > 0 ? `no Node in ${files.join(', ')}` : 'the cluster has no nodes; add one',
      )
    const namespace = options.namespace ?? 'default'
    const sets = options.filename ? renderSets({ documents, configuration, objects, namespace }) : []
    return { objects, sets }
  })
}

/** Converts the exit code of every expected failure to 2, because 1 says that a gang does not fit. */
export async function withInputExitCode<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof CommandError ? new CommandError(error.message, 2) : error
  }
}

function requireOneCluster(options: PlacementOptions, files: readonly string[]): void {
  if (files.length === 0) return
  const given = (['kubeconfig', 'context', 'local'] as const).filter(name => options[name] !== undefined)
  if (given.length > 0)
    throw new CommandError(
      `--nodes reads the cluster from files and cannot be combined with --${given.join(' or --')}`,
    )
}

function configurationOf(path: string | undefined): Promise<OperatorConfiguration> {
  return path === undefined ? Promise.resolve(localConfiguration()) : readConfigurationFile(path)
}
