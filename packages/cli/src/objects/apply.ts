// SPDX-License-Identifier: Apache-2.0

// `grove apply`: makes the cluster hold what manifests say. The server merges; the manifest owns its fields.
import { isKubeError, type KubeObject, type Stored } from '@grove/kube'
import { CommandError } from '../command-error.ts'
import { type ClusterOptions, type LiveCluster, serverWords, withCluster } from '../live-cluster.ts'
import { printJson, printLines, printNote, printYaml } from '../print.ts'
import { type PlacedObject, placed, readObjects } from './manifest-objects.ts'
import { ServedKinds, spoken } from './served-kinds.ts'

export interface ApplyOptions extends ClusterOptions {
  readonly filename: string[]
  readonly serverSide?: boolean
  readonly forceConflicts?: boolean
  readonly fieldManager: string
  readonly dryRun: string
  readonly output?: string
}

export async function apply(options: ApplyOptions): Promise<number> {
  if (options.forceConflicts && !options.serverSide)
    throw new CommandError('--force-conflicts belongs to --server-side')
  const objects = await readObjects(options.filename)
  return withCluster(options, async cluster => {
    const kinds = await ServedKinds.of(cluster.client)
    let exitCode = 0
    let hasDefinitions = false
    for (const object of objects)
      try {
        const one = await placed(object, kinds, {
          namespace: cluster.namespace,
          isAsked: options.namespace !== undefined,
          mayCome: hasDefinitions,
        })
        await applyOne(cluster, one, options)
        hasDefinitions ||= one.kind === 'CustomResourceDefinition'
      } catch (error) {
        // The others are applied all the same; without a cluster there is nothing to try.
        if (error instanceof CommandError) printNote(`grove: ${error.message}`)
        else if (isKubeError(error) && error.status !== undefined)
          printNote(`${object.place}: ${serverWords(error)}${hint(error.code)}`)
        else throw error
        exitCode = 1
      }
    return exitCode
  })
}

async function applyOne({ client }: LiveCluster, one: PlacedObject, options: ApplyOptions): Promise<void> {
  const { resource, ref, value } = one
  const before = options.serverSide ? undefined : await client.find(resource, ref)
  const after =
    options.dryRun === 'client'
      ? (value as Stored<KubeObject>)
      : await client.apply(resource, value, {
          fieldManager: options.fieldManager,
          // Without --server-side the manifest wins, as people know it of apply; with it, others' fields are theirs.
          force: !options.serverSide || (options.forceConflicts ?? false),
          fieldValidation: 'Strict',
          dryRun: options.dryRun === 'server',
        })
  if (options.output === 'json') return printJson(after)
  if (options.output === 'yaml') return printYaml(after)
  const name = spoken(resource, ref.name)
  if (options.output === 'name') return printLines([name])
  const done = options.serverSide ? 'serverside-applied' : whatHappened(before, after, options.dryRun)
  printLines([`${name} ${done}${dryRunNote(options.dryRun)}`])
}

function whatHappened(before: Stored | undefined, after: Stored, dryRun: string): string {
  if (!before) return 'created'
  const isUnchanged =
    dryRun !== 'client' && before.metadata.resourceVersion === after.metadata.resourceVersion
  return isUnchanged ? 'unchanged' : 'configured'
}

export function dryRunNote(dryRun: string): string {
  return dryRun === 'none' ? '' : dryRun === 'server' ? ' (server dry run)' : ' (dry run)'
}

function hint(code: string): string {
  return code === 'Conflict' ? '\nTo take these fields over: --force-conflicts' : ''
}
