// SPDX-License-Identifier: Apache-2.0

// Every request needs a response, so the work of a rule must be linear in the size of the request. The tests count the
// work, because time varies.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Watch, workOf } from '../testing/counted-work.ts'
import { hostileSets } from '../testing/hostile-sets.ts'
import { configurationWith, sampleCluster, sampleSet } from '../testing/sample-sets.ts'
import type { PodCliqueSet } from '../types/index.ts'
import { clusterNeeds } from './cluster-needs.ts'
import { decodePodCliqueSet } from './decode.ts'
import { defaultPodCliqueSet } from './defaulting.ts'
import { messageLimits, rejectionMessage, shortenedWarnings } from './long-texts.ts'
import { validateChangedPodCliqueSet, validateNewPodCliqueSet } from './podcliqueset/validate.ts'

const contexts = [
  {},
  { topology: true, mnnvl: true, schedulers: ['kai-scheduler'] },
  { topology: true, mnnvl: true, schedulers: ['volcano'] },
].map(settings => ({ configuration: configurationWith(settings), cluster: sampleCluster }))

/** Runs both webhooks with the configuration of each context. */
function admitAll(object: PodCliqueSet, stored: PodCliqueSet | undefined): void {
  for (const context of contexts) {
    const decoded = decodePodCliqueSet(object)
    const old = stored && decodePodCliqueSet(stored)
    if (!decoded.ok || (old && !old.ok)) continue
    clusterNeeds(object, context.configuration)
    const set = defaultPodCliqueSet(decoded.value, 'work', old?.value)
    const { errors, warnings } = old
      ? validateChangedPodCliqueSet(set, old.value, context)
      : validateNewPodCliqueSet(set, context)
    const message = errors.length > 0 ? rejectionMessage(errors) : ''
    const hints = shortenedWarnings(warnings).join('')
    assert.ok(message.length <= messageLimits.message + 100, `${message.length}`)
    assert.ok(hints.length <= (messageLimits.warnings + 1) * (messageLimits.warning + 100), `${hints.length}`)
  }
}

function changed(set: PodCliqueSet): PodCliqueSet {
  return { ...set, spec: { ...set.spec, replicas: 2 } }
}

/** The set with every list reordered, and another role for every clique. */
function reordered(set: PodCliqueSet): PodCliqueSet {
  const { template } = set.spec
  const cliques = template.cliques.map(one => ({ ...one, spec: { ...one.spec, roleName: 'other' } }))
  return {
    ...set,
    spec: {
      ...set.spec,
      template: {
        ...template,
        cliqueStartupType: 'CliqueStartupTypeInOrder',
        cliques: cliques.toReversed(),
        ...(template.podCliqueScalingGroups && {
          podCliqueScalingGroups: template.podCliqueScalingGroups.toReversed(),
        }),
      },
    },
  }
}

const requests: Record<string, (set: PodCliqueSet, watch: Watch) => void> = {
  created: (set, watch) => admitAll(watch(set), undefined),
  // A stored set may exceed the list limits, so the rules process lists of any length here.
  changed: (set, watch) => admitAll(watch(changed(set)), watch(set)),
  reordered: (set, watch) => admitAll(watch(reordered(set)), watch(set)),
  'replacing a small one': (set, watch) => admitAll(watch(set), watch(sampleSet())),
}

describe('a request of twice the size needs about twice the work', () => {
  const size = 400
  for (const [name, make] of Object.entries(hostileSets)) {
    test(name, () => {
      for (const [request, run] of Object.entries(requests)) {
        const small = make(size)
        const large = make(2 * size)
        const ratio = workOf(watch => run(large, watch)) / workOf(watch => run(small, watch))
        assert.ok(ratio < 2.5, `${request}: ${ratio.toFixed(2)} times the work`)
      }
    })
  }
})

describe('the work of a request within all limits', () => {
  // If a longer list ends validation early, its work does not cover the other rules.
  const size = 60
  for (const [name, make] of Object.entries(hostileSets)) {
    test(name, () => {
      const work = (factor: number): number =>
        workOf(watch => requests.created!(make(factor * size), watch)) -
        workOf(watch => requests.created!(make(1), watch))
      const ratio = work(2) / work(1)
      assert.ok(ratio < 2.5, `${ratio.toFixed(2)} times the work`)
    })
  }
})
