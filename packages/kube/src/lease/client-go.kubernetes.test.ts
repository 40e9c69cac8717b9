// SPDX-License-Identifier: Apache-2.0

// An election together with a candidate that uses client-go: kube-scheduler.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { loadKubeconfig } from '../auth/index.ts'
import { type Client, createClient } from '../client/index.ts'
import { systemClock } from '../clock/index.ts'
import { LeaseElector } from './elector.ts'
import { leaseClient } from './lease-client.ts'
import { leases } from './record.ts'

const lock = { namespace: 'kube-system', name: 'shared' }
const times = { leaseDurationMs: 10_000, renewDeadlineMs: 7_000, retryPeriodMs: 1_000 }
const never = new AbortController().signal

let kubernetes: Kubernetes
let client: Client
before(async () => {
  kubernetes = await startKubernetes({
    controllers: false,
    kwok: false,
    flags: {
      'kube-scheduler': [
        '--leader-elect=true',
        `--leader-elect-resource-name=${lock.name}`,
        `--leader-elect-resource-namespace=${lock.namespace}`,
        `--leader-elect-lease-duration=${times.leaseDurationMs}ms`,
        `--leader-elect-renew-deadline=${times.renewDeadlineMs}ms`,
        `--leader-elect-retry-period=${times.retryPeriodMs}ms`,
      ],
    },
  })
  client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
})
after(async () => {
  await client?.close()
  await kubernetes?.stop()
})

const specOf = async () => (await client.get(leases, lock)).spec ?? {}

describe('an election with a client-go candidate', () => {
  it('takes the lease when kube-scheduler dies, and kube-scheduler takes it again after the release', async () => {
    const theirs = await waitFor('the scheduler to lead', async () => (await specOf()).holderIdentity)
    const elector = new LeaseElector({
      ...lock,
      client: leaseClient(client, lock),
      clock: systemClock,
      times,
    })
    const acquiring = elector.acquire(never)
    const theirRenewals = new Set<string | undefined>()
    await waitFor('renewals by kube-scheduler', async () => {
      const spec = await specOf()
      theirRenewals.add(spec.renewTime)
      return spec.holderIdentity !== theirs || theirRenewals.size > 3
    })
    assert.equal((await specOf()).holderIdentity, theirs, 'this candidate waits while kube-scheduler renews')
    assert.equal(elector.leadership.isHeld(), false)

    await kubernetes.kill('kube-scheduler')
    await acquiring
    const own = await specOf()
    assert.equal(own.holderIdentity, elector.leadership.identity)
    assert.equal(own.leaseDurationSeconds, times.leaseDurationMs / 1_000)

    // kube-scheduler comes back and must wait as long as this candidate renews.
    const renewals = new Set<string | undefined>()
    await kubernetes.start('kube-scheduler')
    await waitFor('renewals of this candidate', async () => {
      const spec = await specOf()
      assert.equal(spec.holderIdentity, elector.leadership.identity)
      return renewals.add(spec.renewTime).size > 8
    })
    await elector.release({ handOver: true })
    const next = await waitFor('the scheduler to lead again', async () => {
      const spec = await specOf()
      return spec.holderIdentity && spec.holderIdentity !== elector.leadership.identity ? spec : undefined
    })
    assert.notEqual(next.holderIdentity, theirs, 'it is a new process')
    assert.equal(next.leaseTransitions, (own.leaseTransitions ?? 0) + 1)
  })
})
