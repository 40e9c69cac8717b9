// SPDX-License-Identifier: Apache-2.0

// `grove apply` creates or updates objects from manifests by server-side apply.
import { isKubeError, type KubeError, type KubeObject, type Stored } from '@grove/kube/client'
import {
  type ClusterOptions,
  type LiveCluster,
  serverMessage,
  withCluster,
} from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { printJson, printLines, printNote } from '../terminal/print.ts'
import { printYaml } from '../terminal/print-objects.ts'
import { type ManifestObject, type ResolvedObject, readObjects, resolveObject } from './manifest-objects.ts'
import { isJsonPath, jsonPathPrinter, type TemplatePrinter } from './output-format.ts'
import { displayName, ServedKinds } from './served-kinds.ts'

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
    throw new CommandError('--force-conflicts requires --server-side')
  const printTemplate = isJsonPath(options.output) ? jsonPathPrinter(options.output!) : undefined
  const objects = await readObjects(options.filename)
  return withCluster(options, async cluster => {
    const kinds = await ServedKinds.of(cluster.client)
    let exitCode = 0
    let hasDefinitions = false
    for (const object of objects) {
      let one: ResolvedObject | undefined
      let before: Stored | undefined
      try {
        one = await resolveObject(object, kinds, {
          namespace: cluster.namespace,
          isExplicit: options.namespace !== undefined,
          mayAppear: hasDefinitions,
        })
        if (!options.serverSide) before = await cluster.client.find(one.resource, one.ref)
        await applyOne(cluster, one, before, options, printTemplate)
        hasDefinitions ||= one.kind === 'CustomResourceDefinition'
      } catch (error) {
        // Continues with the other objects, unless the connection is lost.
        if (error instanceof CommandError) printNote(`grove: ${error.message}`)
        else if (isKubeError(error) && error.status !== undefined)
          for (const line of await rejectionLines(one ?? object, before, error)) printNote(line)
        else throw error
        exitCode = 1
      }
    }
    return exitCode
  })
}

async function applyOne(
  { client }: LiveCluster,
  one: ResolvedObject,
  before: Stored | undefined,
  options: ApplyOptions,
  printTemplate: TemplatePrinter | undefined,
): Promise<void> {
  const { resource, ref, value } = one
  const after =
    options.dryRun === 'client'
      ? (value as Stored<KubeObject>)
      : await client.apply(resource, value, {
          fieldManager: options.fieldManager,
          // Without --server-side the manifest wins, as with kubectl apply. With it, fields of other managers cause a
          // conflict.
          force: !options.serverSide || (options.forceConflicts ?? false),
          fieldValidation: 'Strict',
          dryRun: options.dryRun === 'server',
        })
  if (printTemplate) return printTemplate(after)
  if (options.output === 'json') return printJson(after)
  if (options.output === 'yaml') return printYaml(after)
  const name = displayName(resource, ref.name)
  if (options.output === 'name') return printLines([name])
  const done = options.serverSide ? 'serverside-applied' : whatHappened(before, after, options.dryRun)
  printLines([`${name} ${done}${dryRunNote(options.dryRun)}`])
}

/**
 * The API server reports mistakes by paths such as `.cliques[name="lead"]`, or several times. If `grove validate` finds
 * the mistakes, the result is its text with the lines of the file, else the message of the server.
 */
async function rejectionLines(
  { document, kind, place, value }: ManifestObject,
  before: Stored | undefined,
  error: KubeError,
): Promise<readonly string[]> {
  if (error.code !== 'Conflict') {
    const { mistakesIn } = await import('../commands/validate.ts')
    const mistakes = await mistakesIn({ ...document, value }, before, error.message)
    if (mistakes)
      return [`${place}: ${serverMessage(error, `${kind} ${value.metadata?.name} is invalid:`)}`, ...mistakes]
  }
  return [...`${place}: ${serverMessage(error)}`.split('\n'), ...hint(error.code)]
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

function hint(code: string): string[] {
  return code === 'Conflict' ? ['To take over these fields: --force-conflicts'] : []
}
