// SPDX-License-Identifier: Apache-2.0

// A set that cannot fit: all commands that a user might try show the same cause.
import assert from 'node:assert/strict'
import { call } from './grove-call.ts'

export interface StuckSet {
  readonly name: string
  readonly namespace: string
  readonly kubeconfig: string
  /** Runs the real kubectl, and returns its output. */
  readonly kubectl: (...args: string[]) => Promise<string>
}

/** Waits until the set is stalled, and returns the cause that its PodGang reports. */
export async function causeOfStuck({ name, namespace, kubeconfig, kubectl }: StuckSet): Promise<string> {
  const where = ['-n', namespace]
  await kubectl('wait', '--for=condition=Stalled', `pcs/${name}`, '--timeout=120s', ...where)
  const scheduled = 'jsonpath={.status.conditions[?(@.type=="Scheduled")].message}'
  const cause = await kubectl('get', 'pg', `${name}-0`, '-o', scheduled, ...where)
  assert.notEqual(cause, '')

  const pcs = await kubectl('describe', 'pcs', name, ...where)
  const [conditions = '', events = ''] = pcs.split(/^Events:/m)
  const condition = conditions.split(/(?=Last Transition Time:)/).find(text => /Type: +Stalled/.test(text))
  assert.ok(condition?.includes(cause), `the condition Stalled: ${pcs}`)
  assert.match(events, /Warning +GangUnschedulable /)
  assert.ok(events.includes(cause), `the events of the set: ${pcs}`)

  const pg = await kubectl('describe', 'pg', `${name}-0`, ...where)
  assert.ok(pg.includes(cause), pg)
  const warnings = await kubectl('get', 'events', '--field-selector=type=Warning', ...where)
  assert.ok(warnings.includes(`podcliqueset/${name}`) && warnings.includes(cause), warnings)

  const status = await call(['status', name, '--kubeconfig', kubeconfig, ...where])
  assert.equal(status.status, 1)
  const [, first = ''] = status.stdout.split('\n')
  assert.ok(first.includes(cause), `the first cause of grove status: ${status.stdout}`)
  return cause
}

export const setWithoutRoom = `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata:
  name: large
spec:
  replicas: 1
  template:
    cliques:
      - name: work
        spec:
          roleName: work
          replicas: 3
          podSpec:
            containers:
              - name: main
                image: registry.example/work:1
                resources:
                  limits: {nvidia.com/gpu: "8"}
`
