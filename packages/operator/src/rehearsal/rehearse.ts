// SPDX-License-Identifier: Apache-2.0

// The first set after a start would otherwise wait until V8 has compiled what is done for it, a quarter of a second.
import { defaultScheduler, enabledSchedulers, label, type OperatorConfiguration } from '@grove/api'
import { type Clock, createClientOn } from '@grove/kube'
import { RemovalsUnderWay } from '../apply/removals-under-way.ts'
import { StatusPace } from '../apply/status-pace.ts'
import { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { Operator } from '../operator.ts'
import { schedulerBackends } from '../schedulers/registry.ts'
import { Stage } from './stage.ts'
import { warmUpSet } from './warm-up-set.ts'

/** As often as it helps: after that the code is compiled. */
export const rounds = 8
/** It takes a tenth of this. What does not come about by then is let be. */
const longestMs = 3_000

/**
 * Lets controllers handle small sets that exist nowhere. Ends by itself or with the signal, soon in any case;
 * touches no cluster. Not for results: only for what the process knows afterwards about its own code. Tells how many became ready.
 */
export async function rehearse(
  configuration: OperatorConfiguration,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  const ready = new ReadyCount()
  const client = createClientOn(new Stage(pod => ready.note(pod.metadata.labels?.[label.partOf] ?? '')), {
    managedFields: false,
  })
  // Whatever the configured schedulers read is there.
  const caches = new Caches(client, { clock, watches: () => 'now' })
  const over = new AbortController()
  const timer = clock.setTimeout(() => over.abort(), longestMs)
  const running = AbortSignal.any([signal, over.signal])
  const watching = caches.run(running)
  const operator = new Operator({
    context: {
      caches,
      clock,
      configuration,
      backends: schedulerBackends([...enabledSchedulers(configuration)], defaultScheduler(configuration)),
      waiterImage: undefined,
      statusPace: new StatusPace(clock),
      removals: new RemovalsUnderWay(),
      events: { emit: () => undefined },
    },
  })
  try {
    await caches.waitForSync(running)
    await operator.start(running)
    let done = 0
    for (; done < rounds; done++) {
      const set = warmUpSet(`round-${done}`)
      await client.create(resources.podCliqueSets, set, { signal: running })
      await ready.until(set.metadata.name, podsEach, running)
      if (running.aborted) break
    }
    return done
  } finally {
    timer.cancel()
    over.abort()
    await operator.stop()
    await watching
  }
}

const podsEach = 10

/** How many pods of a set are ready. */
class ReadyCount {
  readonly #counts = new Map<string, number>()
  #wake: () => void = () => undefined

  note(set: string): void {
    this.#counts.set(set, (this.#counts.get(set) ?? 0) + 1)
    this.#wake()
  }

  async until(set: string, count: number, signal: AbortSignal): Promise<void> {
    while ((this.#counts.get(set) ?? 0) < count && !signal.aborted)
      await new Promise<void>(resolve => {
        this.#wake = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
  }
}
