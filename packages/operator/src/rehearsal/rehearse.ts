// SPDX-License-Identifier: Apache-2.0

// The first set after a start would otherwise wait until V8 has compiled what is done for it, a quarter of a second.
import {
  type CliqueTemplate,
  defaultScheduler,
  enabledSchedulers,
  label,
  type OperatorConfiguration,
  type PodCliqueSet,
} from '@grove/api'
import { type AdmissionRequest, type Client, type Clock, createClientOn, silentLogger } from '@grove/kube'
import { defaultingHandler, validatingHandler } from '../admission/handlers.ts'
import { schedulerBackends } from '../backends/registry.ts'
import { Operator } from '../operator.ts'
import { RemovalsUnderWay } from '../removals-under-way.ts'
import { resources } from '../resources.ts'
import { StatusPace } from '../status-pace.ts'
import { World } from '../world.ts'
import { Stage } from './stage.ts'

const namespace = 'rehearsal'
/** As often as it helps: after that the code is compiled. */
export const rounds = 8
/** It takes a tenth of this. What does not come about by then is let be. */
const longestMs = 3_000

/**
 * Lets controllers and admission handle small sets that exist nowhere. Ends by itself or with the signal, soon in any case;
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
  const world = new World(client, { clock, watches: () => 'now' })
  const over = new AbortController()
  const timer = clock.setTimeout(() => over.abort(), longestMs)
  const running = AbortSignal.any([signal, over.signal])
  const watching = world.run(running)
  const operator = new Operator({
    context: {
      world,
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
    await world.waitForSync(running)
    await operator.start(running)
    let done = 0
    for (; done < rounds; done++) {
      const set = sampleSet(`round-${done}`)
      await admitted(set, client, configuration, running)
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

/** One standalone clique and one group, so that every controller has its part. */
function sampleSet(name: string): PodCliqueSet {
  const clique = (role: string): CliqueTemplate => ({
    name: role,
    spec: {
      roleName: role,
      replicas: 5,
      minAvailable: 5,
      podSpec: { containers: [{ name: 'main', image: 'none' }] },
    },
  })
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    // One of the schedulers does nothing without a queue.
    metadata: { name, namespace, labels: { [label.kaiQueue]: 'rehearsal' } },
    spec: {
      replicas: 1,
      template: {
        cliques: [clique('alone'), clique('member')],
        podCliqueScalingGroups: [{ name: 'group', cliqueNames: ['member'], replicas: 1, minAvailable: 1 }],
        terminationDelay: '4h',
      },
    },
  }
}
const podsEach = 10

async function admitted(
  object: PodCliqueSet,
  client: Client,
  configuration: OperatorConfiguration,
  signal: AbortSignal,
): Promise<void> {
  const request = { operation: 'CREATE', namespace, object } as unknown as AdmissionRequest
  await defaultingHandler()(request, { signal, log: silentLogger })
  await validatingHandler({ client, configuration })(request, { signal, log: silentLogger })
}

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
