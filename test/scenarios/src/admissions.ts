// SPDX-License-Identifier: Apache-2.0

// A constant load of admission requests, for tests that replace certificates and processes meanwhile.
import type { PodCliqueSet } from '@grove/api'
import type { Client } from '@grove/kube'
import { resources } from '@grove/operator'
import { waitFor } from '@grove/test-kubernetes'

export const podsPerReplica = 2
export const admissionsPerSecond = 50

export interface Admissions {
  /** One message for each request that failed. */
  readonly failures: readonly string[]
  /** Resolves when this many further sets are admitted. */
  untilFurther(count: number): Promise<void>
  /** Returns the number of admitted sets. */
  stop(): Promise<number>
}

/** Sends sets to admission at a fixed rate until stopped. They are not stored. */
export function admitSets(client: Client, namespace: string): Admissions {
  const failures: string[] = []
  let admitted = 0
  let isStopped = false
  const sending = (async () => {
    const running = new Set<Promise<void>>()
    for (let index = 0; !isStopped; index++) {
      const one: Promise<void> = client
        .create(resources.podCliqueSets, setOf(`set-${index}`, namespace, 1), { dryRun: true, attempts: 1 })
        .then(
          () => void admitted++,
          error => void failures.push(String(error)),
        )
        .finally(() => running.delete(one))
      running.add(one)
      await new Promise(resolve => setTimeout(resolve, 1000 / admissionsPerSecond))
    }
    await Promise.all(running)
  })()
  return {
    failures,
    untilFurther: async count => {
      const reached = admitted
      await waitFor('further admissions', () => admitted >= reached + count)
    },
    stop: async () => {
      isStopped = true
      await sending
      return admitted
    },
  }
}

export function setOf(name: string, namespace: string, replicas: number): PodCliqueSet {
  const podSpec = { containers: [{ name: 'main', image: 'registry.example/main:1' }] }
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name, namespace },
    spec: {
      replicas,
      template: {
        cliques: [{ name: 'work', spec: { roleName: 'work', replicas: podsPerReplica, podSpec } }],
      },
    },
  }
}
