// SPDX-License-Identifier: Apache-2.0

// Pods that fail as soon as they are scheduled, as on a node whose kubelet rejects them.
import assert from 'node:assert/strict'
import { annotation, conditionType, label, type Pod } from '@grove/api'
import { isConflict, isNotFound, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { solo } from './manifests.ts'
import { editCliques, withImage } from './updates.ts'

const index = ({ metadata }: Pod) => metadata.labels?.[label.podIndex] ?? ''
const created = ({ metadata }: Stored<Pod>) => Date.parse(metadata.creationTimestamp ?? '')
const failures = ({ metadata }: Pod) => Number(metadata.annotations?.[annotation.consecutiveFailures] ?? 0)

const brokenImage = 'registry.example/web:1'
const imageOf = (pod: Pod) => pod.spec?.containers[0]?.image

/** Simulates a kubelet that rejects every pod with the first image. Records every pod. */
class RejectingKubelet {
  readonly seen = new Map<string, Stored<Pod>>()
  readonly #harness: Harness

  constructor(harness: Harness) {
    this.#harness = harness
  }

  async reject(): Promise<Stored<Pod>[]> {
    const pods = await this.#harness.pods('solo')
    for (const pod of pods) {
      const { uid, name, deletionTimestamp } = pod.metadata
      this.seen.set(uid, pod)
      if (!pod.spec?.nodeName || deletionTimestamp || pod.status?.phase === 'Failed') continue
      if (imageOf(pod) !== brokenImage) continue
      try {
        await this.#harness.client.patch(
          resources.pods,
          { name, namespace: this.#harness.namespace },
          { merge: { status: { phase: 'Failed', reason: 'UnexpectedAdmissionError' } } },
          { subresource: 'status' },
        )
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
    }
    return pods
  }
}

async function condition(harness: Harness) {
  const [clique] = await harness.cliques('solo')
  return clique?.status?.conditions?.find(({ type }) => type === conditionType.podsFailing)
}

function untilFailed(harness: Harness, kubelet: RejectingKubelet, times: number) {
  return harness.until(
    `a pod to fail ${times} times`,
    async () => {
      await kubelet.reject()
      return condition(harness)
    },
    seen =>
      seen?.status === 'True' &&
      seen.reason === 'BackOff' &&
      Number(
        /failed (\d+) times in a row \(UnexpectedAdmissionError\), next attempt at /.exec(seen.message)?.[1],
      ) >= times,
  )
}

/** Checks that each further failure of an index delays its next pod for longer. */
function assertDelays(pods: Iterable<Stored<Pod>>): void {
  for (const ofIndex of Map.groupBy(pods, index).values()) {
    const inOrder = ofIndex.toSorted((a, b) => created(a) - created(b))
    for (const [at, pod] of inOrder.entries()) {
      const last = inOrder[at - 1]
      if (!last || failures(pod) === 0) continue
      assert.equal(failures(pod), failures(last) + 1)
      // Timestamps of the API server have whole seconds.
      const delayMs = 1_000 * 2 ** failures(last)
      assert.ok(created(pod) - created(last) >= delayMs, `index ${index(pod)}, failure ${failures(pod)}`)
    }
  }
}

export const failingPodScenarios: Scenario[] = [
  {
    name: 'replaces pods that fail immediately with growing delays, reports this in the status of the clique, and recovers',
    async run(harness) {
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      const kubelet = new RejectingKubelet(harness)
      await untilFailed(harness, kubelet, 2)
      // A restarted operator continues the count.
      await harness.restartOperator()
      await harness.fastForward(4_000)
      await untilFailed(harness, kubelet, 3)
      assertDelays(kubelet.seen.values())
      await harness.fastForward(8_000)
      await harness.untilReady('solo', 2)
      await harness.until(
        'the clique to have recovered',
        () => condition(harness),
        seen => seen?.status === 'False',
      )
      await harness.untilAvailable('solo', 1)
    },
  },
  {
    name: 'a repaired template resets the delay of pods that failed',
    async run(harness) {
      await harness.apply(solo)
      await harness.untilReady('solo', 2)
      await harness.untilAvailable('solo', 1)
      const kubelet = new RejectingKubelet(harness)
      await untilFailed(harness, kubelet, 3)
      const image = 'registry.example/web:2'
      await editCliques(harness, 'solo', withImage('web', image))
      const after = await harness.until(
        'two ready pods of the repaired template',
        () => kubelet.reject(),
        pods => pods.length === 2 && pods.every(pod => imageOf(pod) === image && isReady(pod)),
      )
      for (const pod of after) assert.equal(failures(pod), 0, 'the new template has no failures yet')
      await harness.until(
        'the clique to have recovered',
        () => condition(harness),
        seen => seen?.status === 'False',
      )
    },
  },
]
