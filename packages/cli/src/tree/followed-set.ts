// SPDX-License-Identifier: Apache-2.0

// Follows a set and all of its objects with watches.
import { setTimeout as sleep } from 'node:timers/promises'
import { label } from '@grove/api/constants'
import type { SetObjects } from '@grove/inspect'
import { WatchCache } from '@grove/kube/cache'
import type { Client, KubeError, KubeObject, Resource } from '@grove/kube/client'
import { resources } from '@grove/operator/resources'

export interface FollowOptions {
  readonly signal?: AbortSignal
  /** Also returns snapshots without a change, because ages change. */
  readonly atLeastEveryMs?: number
}

export interface Followed {
  readonly name: string
  readonly namespace: string
}

/** Interval in which several changes are returned as one snapshot. */
const drawnTogetherMs = 80
/** The watch retries with increasing delays. After this delay the cluster counts as lost. */
const givenUpAfterWaitMs = 2_000

/**
 * Yields snapshots of the set: at once, and then after every change. Yields undefined while neither the set nor any of
 * its objects exists. Ends with the signal. Throws a KubeError if the cluster rejects a request or is lost.
 */
export async function* followSet(
  client: Client,
  { name, namespace }: Followed,
  { signal, atLeastEveryMs }: FollowOptions = {},
): AsyncGenerator<SetObjects | undefined, undefined> {
  const end = new AbortController()
  const ended = AbortSignal.any([end.signal, ...(signal ? [signal] : [])])
  // One promise for every kind of event. Racing long-lived promises would add a reaction to each of them per snapshot.
  let event = Promise.withResolvers<void>()
  const notify = () => event.resolve()
  ended.addEventListener('abort', notify, { once: true })
  let failure: KubeError | undefined
  const onFailure = (error: KubeError, retryInMs: number) => {
    if (error.code !== 'Forbidden' && retryInMs <= givenUpAfterWaitMs) return
    failure ??= error
    notify()
  }
  const nextEvent = async () => {
    if (failure) throw failure
    const timer = atLeastEveryMs === undefined ? undefined : setTimeout(notify, atLeastEveryMs)
    await event.promise
    clearTimeout(timer)
    if (failure) throw failure
  }
  const follow = <T extends KubeObject>(resource: Resource<T>, selector: object) => {
    const cache = new WatchCache(client, resource, { namespace, ...selector, onFailure })
    cache.onChange(notify)
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
  let isSynced = false
  void Promise.all(caches.map(cache => cache.waitForSync())).then(() => {
    isSynced = true
    notify()
  })
  try {
    while (!isSynced && !ended.aborted) {
      await nextEvent()
      event = Promise.withResolvers<void>()
    }
    while (!ended.aborted) {
      event = Promise.withResolvers<void>()
      const [set] = sets.list()
      yield set && {
        set,
        groups: groups.list(),
        cliques: cliques.list(),
        gangs: gangs.list(),
        pods: pods.list(),
      }
      await nextEvent()
      // Return changes that arrive together as one snapshot.
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
