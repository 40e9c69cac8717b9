// SPDX-License-Identifier: Apache-2.0

// `grove scale`: the replicas of sets, scaling groups, cliques and whatever else can be scaled.
import { getScale, isKubeError, setScale } from '@grove/kube'
import { CommandError } from '../command-error.ts'
import { type ClusterOptions, serverWords, withCluster } from '../live-cluster.ts'
import { wholeNumber } from '../options.ts'
import { printLines, printNote } from '../print.ts'
import { dryRunNote } from './apply.ts'
import { placed, readObjects } from './manifest-objects.ts'
import { objectsNamed } from './object-words.ts'
import { ServedKinds, spoken } from './served-kinds.ts'

export interface ScaleOptions extends ClusterOptions {
  readonly filename?: string[]
  readonly replicas: string
  readonly currentReplicas?: string
  readonly dryRun: string
  readonly output?: string
}

export async function scale(words: readonly string[], options: ScaleOptions): Promise<number> {
  const replicas = wholeNumber('--replicas', options.replicas)
  const expected =
    options.currentReplicas === undefined
      ? undefined
      : wholeNumber('--current-replicas', options.currentReplicas)
  return withCluster(options, async ({ client, namespace }) => {
    const kinds = await ServedKinds.of(client)
    const where = { namespace, isAsked: options.namespace !== undefined }
    const targets = options.filename
      ? await Promise.all((await readObjects(options.filename)).map(object => placed(object, kinds, where)))
      : objectsNamed(words, kinds).flatMap(({ resource, names }) => {
          if (!names) throw new CommandError(`say which ${resource.resource} to scale`)
          return names.map(name => ({ resource, ref: { name, ...(resource.namespaced && { namespace }) } }))
        })
    let exitCode = 0
    for (const { resource, ref } of targets)
      try {
        if (!resource.subresources.includes('scale'))
          throw new CommandError(`${resource.resource} cannot be scaled: they have no number of replicas`, 1)
        if (expected !== undefined || options.dryRun === 'client') {
          const { spec } = await getScale(client, resource, ref)
          if (expected !== undefined && (spec?.replicas ?? 0) !== expected)
            throw new CommandError(
              `${spoken(resource, ref.name)} has ${spec?.replicas ?? 0} replicas, not ${expected}`,
              1,
            )
        }
        if (options.dryRun !== 'client')
          await setScale(client, resource, ref, replicas, {
            fieldManager: 'grove-cli',
            dryRun: options.dryRun === 'server',
          })
        const name = spoken(resource, ref.name)
        printLines([options.output === 'name' ? name : `${name} scaled${dryRunNote(options.dryRun)}`])
      } catch (error) {
        if (error instanceof CommandError) printNote(`grove: ${error.message}`)
        else if (isKubeError(error) && error.status !== undefined) printNote(serverWords(error))
        else throw error
        exitCode = 1
      }
    return exitCode
  })
}
