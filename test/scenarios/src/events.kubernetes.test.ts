// SPDX-License-Identifier: Apache-2.0

// Events of a set as `kubectl describe` shows them, recorded by the operator process on a real API server.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { annotation } from '@grove/api'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts'
import { grouped } from './scenarios/manifests.ts'

interface Event {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
}

describe('events of a PodCliqueSet', () => {
  let kubernetes: Kubernetes
  let operator: OperatorProcess
  let team: string

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 10 })
    operator = await startOperatorProcess(kubernetes)
    team = await kubernetes.newNamespace('events')
  })
  after(async () => {
    operator?.kill()
    await kubernetes?.stop()
  })

  const kubectl = async (...args: string[]) => {
    const { code, stdout, stderr } = await kubernetes.kubectl(...args, '-n', team)
    assert.equal(code, 0, stderr)
    return stdout
  }

  /** Returns the events as `type reason message`, sorted. */
  const recorded = async () => {
    const found = await kubectl(
      'get',
      'events',
      '--field-selector=involvedObject.kind=PodCliqueSet,involvedObject.name=grouped',
      '-o',
      'json',
    )
    const events = JSON.parse(found).items as Event[]
    for (const { source, reportingComponent } of events)
      assert.equal(source?.component || reportingComponent, 'podcliqueset-controller')
    return events.map(({ type, reason, message }) => `${type} ${reason} ${message}`).toSorted()
  }

  const untilRecorded = async (...wanted: string[]) => {
    let seen: string[] = []
    const isSo = async () => {
      seen = await recorded()
      return seen.join('\n') === wanted.toSorted().join('\n')
    }
    await waitFor('the events of the set', isSo).catch(() => assert.deepEqual(seen, wanted.toSorted()))
  }

  test('the operator records one event for each created or deleted object, and none for a reconcile without changes', async () => {
    const made = (replica: number) => [
      `Normal PodCliqueCreateOrUpdateSuccessful PodClique ${team}/grouped-${replica}-router created or updated successfully`,
      `Normal PodCliqueScalingGroupCreateSuccessful Created PodCliqueScalingGroup ${team}/grouped-${replica}-eng`,
      `Normal PodGangCreateOrUpdateSuccessful Created/Updated PodGang ${team}/grouped-${replica}`,
      `Normal PodGangCreateOrUpdateSuccessful Created/Updated PodGang ${team}/grouped-${replica}-eng-0`,
    ]
    const gone = [
      'Normal PodCliqueDeleteSuccessful Deleted PodClique: grouped-1-router',
      `Normal PodCliqueScalingGroupDeleteSuccessful Deleted PodCliqueScalingGroup ${team}/grouped-1-eng`,
      `Normal PodGangDeleteSuccessful Deleted PodGang ${team}/grouped-1`,
      `Normal PodGangDeleteSuccessful Deleted PodGang ${team}/grouped-1-eng-0`,
    ]
    await kubernetes.apply(grouped, '-n', team)
    await untilRecorded(...made(0))
    for (let look = 0; look < 10; look++)
      await kubectl('annotate', 'pcs/grouped', '--overwrite', `${annotation.reconcileTrigger}=${look}`)
    await kubectl('scale', 'pcs/grouped', '--replicas=2')
    await untilRecorded(...made(0), ...made(1))
    await kubectl('scale', 'pcs/grouped', '--replicas=1')
    await untilRecorded(...made(0), ...made(1), ...gone)
  })
})
