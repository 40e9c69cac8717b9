// SPDX-License-Identifier: Apache-2.0

// `grove scale` sets the replicas of sets, scaling groups, cliques and other scalable resources.
import { getScale, isKubeError, setScale } from '@grove/kube/client'
import { type ClusterOptions, serverMessage, withCluster } from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { wholeNumber } from '../commands/options.ts'
import { printLines, printNote } from '../terminal/print.ts'
import { dryRunNote } from './apply.ts'
import { readObjects, resolveObject } from './manifest-objects.ts'
import { objectsNamed } from './object-arguments.ts'
import { displayName, ServedKinds } from './served-kinds.ts'

export interface ScaleOptions extends ClusterOptions {
  readonly filename?: string[]
  readonly replicas: string
  readonly currentReplicas?: string
  readonly dryRun: string
  readonly output?: string
}

export async function scale(args: readonly string[], options: ScaleOptions): Promise<number> {
  const replicas = wholeNumber('--replicas', options.replicas)
  const expected =
    options.currentReplicas === undefined
      ? undefined
      : wholeNumber('--current-replicas', options.currentReplicas)
  return withCluster(options, async ({ client, namespace }) => {
    const kinds = await ServedKinds.of(client)
    const where = { namespace, isExplicit: options.namespace !== undefined }
    const targets = options.filename
      ? await Promise.all(
          (await readObjects(options.filename)).map(object => resolveObject(object, kinds, where)),
        )
      : objectsNamed(args, kinds).flatMap(({ resource, names }) => {
          if (!names) throw new CommandError(`name the ${resource.resource} to scale`)
          return names.map(name => ({ resource, ref: { name, ...(resource.namespaced && { namespace }) } }))
        })
    let exitCode = 0
    for (const { resource, ref } of targets)
      try {
        if (!resource.subresources.includes('scale'))
          throw new CommandError(`${resource.resource} cannot be scaled: they have no scale subresource`, 1)
        if (expected !== undefined || options.dryRun === 'client') {
          const { spec } = await getScale(client, resource, ref)
          if (expected !== undefined && (spec?.replicas ?? 0) !== expected)
            throw new CommandError(
              `${displayName(resource, ref.name)} has ${spec?.replicas ?? 0} replicas, not ${expected}`,
              1,
            )
        }
        if (options.dryRun !== 'client')
          await setScale(client, resource, ref, replicas, {
            fieldManager: 'grove-cli',
            dryRun: options.dryRun === 'server',
          })
        const name = displayName(resource, ref.name)
        printLines([options.output === 'name' ? name : `${name} scaled${dryRunNote(options.dryRun)}`])
      } catch (error) {
        if (error instanceof CommandError) printNote(`grove: ${error.message}`)
        else if (isKubeError(error) && error.status !== undefined) printNote(serverMessage(error))
        else throw error
        exitCode = 1
      }
    return exitCode
  })
}
