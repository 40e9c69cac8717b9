// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { CodedError } from './errors/coded-error.ts'
import type { StoredSet } from './layout/stored.ts'
import { type RenderContext, render } from './render.ts'
import { schedulerBackends } from './schedulers/registry.ts'
import { clique, sampleSet } from './testing/sample-set.ts'

const context = (schedulers: readonly string[], byDefault: string): RenderContext => ({
  backends: schedulerBackends(schedulers, byDefault),
  configuration: defaultConfiguration(),
  waiterImage: 'waiter:test',
  topologyBindings: [],
  claimTemplates: [],
  podTemplateHashes: () => ({}),
})

function failureOf(set: StoredSet, given: RenderContext): CodedError {
  try {
    render(set, given)
  } catch (error) {
    assert.ok(error instanceof CodedError, String(error))
    return error
  }
  throw new assert.AssertionError({ message: 'the set was rendered' })
}

test('a scheduler that is not enabled causes an error with a code', () => {
  const set = sampleSet({ cliques: [clique('a')] })
  set.spec.template.cliques[0]!.spec.podSpec.schedulerName = 'grove-scheduler'
  const { code, message } = failureOf(set, context(['default-scheduler'], 'default-scheduler'))
  assert.equal(code, 'ERR_BUILD_POD_RESOURCE')
  assert.match(message, /schedulerName "grove-scheduler" is not enabled in OperatorConfiguration/)
})

test('a gang that its scheduler cannot express causes an error with a code', () => {
  const set = sampleSet({ cliques: [clique('a')] })
  const { code, message } = failureOf(set, context(['default-scheduler', 'kai-scheduler'], 'kai-scheduler'))
  assert.equal(code, 'ERR_CREATE_OR_PATCH_PODGANG')
  assert.match(message, /no KAI queue is configured on PodCliqueSet serving\/w/)
})
