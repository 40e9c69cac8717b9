// SPDX-License-Identifier: Apache-2.0

// A set and everything below it, kept up to date by watches.
import { setTimeout as sleep } from 'node:timers/promises'
import { label } from '@grove/api'
import { type Client, type KubeError, type KubeObject, type Resource, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import type { SetObjects } from './set-model.ts'

export interface FollowOptions {
  readonly signal?: AbortSignal
  /** Also when nothing has changed: ages grow. */
  readonly atLeastEveryMs?: number
}

export interface Followed {
  readonly name: string
  readonly namespace: string
}

/** Long enough for the eye, short enough to see things happen. */
const drawnTogetherMs = 80
/** Failures are tried again after growing waits; who waits this long is not coming back. */
const givenUpAfterWaitMs = 2_000

/**
 * Each picture of the set: at once, and then whenever something has changed. Undefined while there is no set and nothing
 * of it is left. Ends with the signal; throws a KubeError when the cluster refuses or cannot be reached any more.
 */
export async function* followSet(
  client: Client,
  { name, namespace }: Followed,
  { signal, atLeastEveryMs }: FollowOptions = {},
): AsyncGenerator<SetObjects | undefined, undefined> {
  const end = new AbortController()
  const ended = AbortSignal.any([end.signal, ...(signal ? [signal] : [])])
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  let changed = Promise.withResolvers<void>()
  const onFailure = (error: KubeError, retryInMs: number) => {
    if (error.code === 'Forbidden' || retryInMs > givenUpAfterWaitMs) failed.reject(error)
  }
  const follow = <T extends KubeObject>(resource: Resource<T>, selector: object) => {
    const cache = new WatchCache(client, resource, { namespace, ...selector, onFailure })
    cache.onChange(() => changed.resolve())
    return cache
  }
  const below = { labelSelector: `${label.partOf}=${name}` }
  const sets = follow(resources.podCliqueSets, { fieldSelector: `metadata.name=${name}` })
  const groups = follow(resources.podCliqueScalingGroups, below)
  const cliques = follow(resources.podCliques, below)
  const gangs = follow(resources.podGangs, below)
  const pods = follow(resources.pods, below)
  const caches = [sets, groups, cliques, gangs, pods]
  const running = caches.map(cache => cache.run(ended))
  const nextLook = () =>
    Promise.race([
      changed.promise,
      failed.promise,
      ...(atLeastEveryMs === undefined ? [] : [sleep(atLeastEveryMs, undefined, { signal: ended })]),
      aborted(ended),
    ])
  try {
    await Promise.race([
      Promise.all(caches.map(cache => cache.waitForSync())),
      failed.promise,
      aborted(ended),
    ])
    while (!ended.aborted) {
      changed = Promise.withResolvers<void>()
      const [set] = sets.list()
      yield set && {
        set,
        groups: groups.list(),
        cliques: cliques.list(),
        gangs: gangs.list(),
        pods: pods.list(),
      }
      await nextLook()
      // What comes together is drawn together.
      await sleep(drawnTogetherMs, undefined, { signal: ended })
    }
  } catch (error) {
    if (!ended.aborted) throw error
  } finally {
    end.abort()
    await Promise.all(running)
  }
  return undefined
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
