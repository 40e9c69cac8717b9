// SPDX-License-Identifier: Apache-2.0

// `grove delete` deletes objects and waits until they are removed.
import { type DiscoveredResource, isKubeError, type ObjectRef } from '@grove/kube/client'
import {
  type ClusterOptions,
  type LiveCluster,
  serverMessage,
  withCluster,
} from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { milliseconds } from '../commands/duration.ts'
import { wholeNumber } from '../commands/options.ts'
import { printLines, printNote } from '../terminal/print.ts'
import { dryRunNote } from './apply.ts'
import { readObjects, resolveObject } from './manifest-objects.ts'
import { objectsNamed } from './object-arguments.ts'
import { displayName, ServedKinds } from './served-kinds.ts'
import { untilGone } from './until-gone.ts'

export interface DeleteOptions extends ClusterOptions {
  readonly filename?: string[]
  readonly allNamespaces?: boolean
  readonly all?: boolean
  readonly selector?: string
  readonly cascade: string
  readonly wait: string
  readonly timeout?: string
  readonly gracePeriod?: string
  readonly now?: boolean
  readonly ignoreNotFound?: boolean
  readonly dryRun: string
  readonly output?: string
}

interface Target {
  readonly resource: DiscoveredResource
  readonly ref: ObjectRef
}

const propagation = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const

export async function remove(args: readonly string[], options: DeleteOptions): Promise<number> {
  const grace = graceOf(options)
  const timeoutMs = options.timeout === undefined ? undefined : milliseconds('--timeout', options.timeout)
  return withCluster(options, async cluster => {
    let exitCode = 0
    const targets = await targetsOf(args, options, cluster)
    const going: (Target & { readonly uid: string | undefined })[] = []
    for (const { resource, ref } of targets)
      try {
        const deletion =
          options.dryRun === 'client'
            ? { uid: undefined, gone: !(await cluster.client.get(resource, ref)) }
            : await cluster.client.delete(resource, ref, {
                propagationPolicy: propagation[options.cascade as keyof typeof propagation],
                ...(grace !== undefined && { gracePeriodSeconds: grace }),
                dryRun: options.dryRun === 'server',
              })
        printLines([said({ resource, ref }, options)])
        if (!deletion.gone) going.push({ resource, ref, uid: deletion.uid })
      } catch (error) {
        if (!isKubeError(error) || error.status === undefined) throw error
        if (error.code === 'NotFound' && (options.ignoreNotFound || options.all || options.selector)) continue
        printNote(serverMessage(error))
        exitCode = 1
      }
    if (targets.length === 0) printLines(['No resources found'])
    if (options.wait === 'true' && options.dryRun === 'none') {
      const signal = timeoutMs ? AbortSignal.timeout(timeoutMs) : undefined
      for (const { resource, ref, uid } of going)
        if (!(await untilGone(cluster.client, resource, ref, uid, signal)))
          throw new CommandError(
            `${displayName(resource, ref.name)} was not deleted within ${(timeoutMs ?? 0) / 1_000} s; check its finalizers`,
            1,
          )
    }
    return exitCode
  })
}

async function targetsOf(
  args: readonly string[],
  options: DeleteOptions,
  cluster: LiveCluster,
): Promise<Target[]> {
  const kinds = await ServedKinds.of(cluster.client)
  if (options.filename) {
    if (args.length > 0) throw new CommandError('use either resource arguments or -f FILE, not both')
    const where = { namespace: cluster.namespace, isExplicit: options.namespace !== undefined }
    return Promise.all(
      (await readObjects(options.filename)).map(object => resolveObject(object, kinds, where)),
    )
  }
  const targets: Target[] = []
  for (const { resource, names } of objectsNamed(args, kinds)) {
    const namespace = resource.namespaced && !options.allNamespaces ? cluster.namespace : undefined
    if (names) {
      if (options.allNamespaces) throw new CommandError('names cannot be combined with --all-namespaces')
      if (options.all || options.selector)
        throw new CommandError('use only one of names, --all and a selector')
      targets.push(...names.map(name => ({ resource, ref: { name, namespace } })))
      continue
    }
    if (!options.all && !options.selector)
      throw new CommandError(`name the ${resource.resource}, or use -l SELECTOR or --all`)
    const { items } = await cluster.client.list(resource, { namespace, labelSelector: options.selector })
    targets.push(...items.map(({ metadata }) => ({ resource, ref: metadata })))
  }
  return targets
}

function said({ resource, ref }: Target, { output, dryRun }: DeleteOptions): string {
  if (output === 'name') return displayName(resource, ref.name)
  const type = displayName(resource, '').slice(0, -1)
  const where = ref.namespace ? ` from ${ref.namespace} namespace` : ''
  return `${type} "${ref.name}" deleted${where}${dryRunNote(dryRun)}`
}

function graceOf({ gracePeriod, now }: DeleteOptions): number | undefined {
  if (now && gracePeriod !== undefined) throw new CommandError('use either --now or --grace-period, not both')
  if (now) return 1
  return gracePeriod === undefined ? undefined : wholeNumber('--grace-period', gracePeriod)
}
