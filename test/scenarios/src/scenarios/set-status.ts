// SPDX-License-Identifier: Apache-2.0

// The complete status, table row and scale of a set in each phase of its lifecycle.
import assert from 'node:assert/strict'
import type { Condition } from '@grove/api'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped } from './manifests.ts'

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority?: number }[]
  readonly rows: readonly { readonly cells: readonly unknown[] }[]
}

const columns = [
  'Name',
  'Replicas',
  'Available',
  'Updated',
  'PCLQs-Updated',
  'PCLQs-Total',
  'PCSGs-Updated',
  'PCSGs-Total',
]
const selector = 'app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=grouped'

const pathOf = ({ namespace }: Harness) =>
  `/apis/grove.io/v1alpha1/namespaces/${namespace}/podcliquesets/grouped`

/** Returns the row that kubectl prints, without the last column, the age. */
async function row(harness: Harness): Promise<unknown[]> {
  const table = (await harness.client.raw({
    verb: 'get',
    method: 'GET',
    path: pathOf(harness),
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  })) as Table
  assert.deepEqual(
    table.columnDefinitions.map(({ name }) => name),
    [...columns, 'Age'],
  )
  assert.ok(
    table.columnDefinitions.every(({ priority = 0 }) => priority === 0),
    'kubectl prints every column without -o wide, so scripts find a column by its position',
  )
  return table.rows[0]!.cells.slice(0, -1)
}

const untilRow = (harness: Harness, ...cells: unknown[]) =>
  harness.until(
    `the row ${cells.join(' ')}`,
    () => row(harness),
    seen => JSON.stringify(seen) === JSON.stringify(['grouped', ...cells]),
  )

/** Removes fields that differ between two runs. */
async function statusOf(harness: Harness) {
  const { currentGenerationHash, updateProgress, ...status } = (await harness.set('grouped'))!.status!
  assert.match(currentGenerationHash ?? '', /^z2-/)
  const { updateStartedAt, updateEndedAt, ...counts } = updateProgress ?? {}
  return {
    ...status,
    ...(updateProgress && { counts, times: [updateStartedAt, updateEndedAt].map(Boolean) }),
  }
}

const scaleOf = (harness: Harness) =>
  harness.client.raw({ verb: 'get', method: 'GET', path: `${pathOf(harness)}/scale` }) as Promise<{
    spec: object
    status: object
  }>

export const setStatusScenarios: Scenario[] = [
  {
    name: 'reports the status of a set before it is ready, when it is ready, after an update and at zero replicas',
    async run(harness) {
      await harness.stopOperator()
      await harness.apply(grouped)
      assert.deepEqual(await row(harness), ['grouped', 1, null, null, null, null, null, null])
      await harness.startOperator()
      await harness.untilReady('grouped', 10)
      await untilRow(harness, 1, 1, 1, null, null, null, null)
      await harness.untilQuiet()
      const converged = {
        observedGeneration: 1,
        replicas: 1,
        availableReplicas: 1,
        updatedReplicas: 1,
        hpaPodSelector: selector,
        podGangStatuses: ['grouped-0', 'grouped-0-eng-0'].map(name => ({ name, phase: 'Running' })),
      }
      const { conditions: first = [], ...seen } = (await statusOf(harness)) as { conditions?: Condition[] }
      assert.deepEqual(seen, converged)
      assert.deepEqual(
        first.map(({ type, status, observedGeneration }) => [type, status, observedGeneration]),
        [['Available', 'True', 1]],
      )
      const { spec, status } = await scaleOf(harness)
      assert.deepEqual({ spec, status }, { spec: { replicas: 1 }, status: { replicas: 1, selector } })
      const { items } = await harness.client.list(resources.pods, {
        namespace: harness.namespace,
        labelSelector: selector,
      })
      assert.equal(items.length, 10)

      await harness.edit('grouped', set => {
        for (const { spec: clique } of set.spec.template.cliques)
          clique.podSpec.containers[0]!.image = 'registry.example/next:2'
      })
      await harness.until(
        'the update to be in progress',
        () => harness.set('grouped'),
        set => {
          if (set?.status?.updateProgress?.updateEndedAt)
            throw new Error('the update ended before it was observed')
          if (!set?.status?.updateProgress?.currentlyUpdating) return false
          assert.equal(set.status.observedGeneration, 1, 'the new spec is not fully applied yet')
          return true
        },
      )
      await untilRow(harness, 1, 1, 1, 1, 1, 1, 1)
      await harness.untilAvailable('grouped', 1)
      await harness.untilQuiet()
      const { conditions = [], ...updated } = (await statusOf(harness)) as { conditions?: Condition[] }
      assert.deepEqual(updated, {
        ...converged,
        observedGeneration: 2,
        counts: {
          updatedPodCliquesCount: 1,
          totalPodCliquesCount: 1,
          updatedPodCliqueScalingGroupsCount: 1,
          totalPodCliqueScalingGroupsCount: 1,
        },
        times: [true, true],
      })
      assert.deepEqual(
        conditions.map(({ type, observedGeneration }) => [type, observedGeneration]),
        [
          ['Available', 2],
          ['UpdateProgressing', 2],
        ],
      )

      await harness.scale(resources.podCliqueSets, 'grouped', 0)
      await harness.untilReady('grouped', 0)
      await untilRow(harness, 0, 0, 0, 0, 0, 0, 0)
      assert.deepEqual((await scaleOf(harness)).status, { replicas: 0, selector })
    },
  },
]
