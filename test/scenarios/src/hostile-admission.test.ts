// SPDX-License-Identifier: Apache-2.0

// The operator process while its webhooks get requests that are as expensive as possible. It must still respond to
// probes, renew its lease and admit other sets.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { after, before, describe, test } from 'node:test'
import type { PodCliqueSet } from '@grove/api'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources, webhookPaths } from '@grove/operator'
import { waitFor } from '@grove/test-kubernetes'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { type EmbeddedHost, serveEmbedded } from './embedded-host.ts'
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts'

/** Parsing a set with the first name never ends. Parsing one with the second name uses all memory. */
const endless = 'endless-review'
const greedy = 'greedy-review'
const slowRules = `
  const parse = JSON.parse
  JSON.parse = (text, ...rest) => {
    if (typeof text === 'string' && text.includes('"${endless}"')) for (;;);
    if (typeof text === 'string' && text.includes('"${greedy}"')) {
      const lists = []
      for (;;) lists.push(new Array(1e6).fill(text))
    }
    return parse(text, ...rest)
  }`

interface Lease extends KubeObject {
  readonly spec?: { readonly renewTime?: string }
}
const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
  kind: 'Lease',
  namespaced: true,
})

describe('an operator process with hostile admission requests', () => {
  let embedded: EmbeddedCluster
  let host: EmbeddedHost
  let operator: OperatorProcess

  before(async () => {
    embedded = await startEmbeddedCluster({ nodes: 2 })
    host = await serveEmbedded(embedded)
    operator = await startOperatorProcess(host, {
      configuration: {
        leaderElection: { enabled: true, leaseDuration: '15s', renewDeadline: '5s', retryPeriod: '200ms' },
      },
      nodeFlags: ['--import', `data:text/javascript,${encodeURIComponent(slowRules)}`],
    })
    await embedded.newNamespace('team')
  })
  after(async () => {
    operator?.kill()
    await host?.stop()
    await embedded?.stop()
  })

  test('responds to probes while it parses a request of 7 MiB of nested lists', async t => {
    const depth = Math.floor(3.4 * 1024 * 1024)
    const review = Buffer.from(reviewOf('deep', `${'['.repeat(depth)}${']'.repeat(depth)}`))
    await operator.metrics()
    const pending = post(webhookPaths.validatePodCliqueSet, review)
    const responses = await probesWhile(pending.response)
    assert.equal((await pending.response).response.allowed, false)
    t.diagnostic(`${responses} probes, ${await longestStall()} s longest stall of the event loop`)
    assert.ok(responses >= 50, `${responses} probes got a response while the request was pending`)
  })

  test('responds to probes, renews its lease and admits other sets while one request never ends, and then rejects that request', async t => {
    await operator.metrics()
    const before = await renewTime()
    const pending = post(webhookPaths.validatePodCliqueSet, Buffer.from(reviewOf(endless)))
    const probes = probesWhile(pending.response)
    await waitFor('the lease to be renewed while the request is pending', async () => {
      assert.equal(pending.hasResponse(), false, 'the request got a response before the lease was renewed')
      return (await renewTime()) !== before
    })
    // It waits behind the endless request, and the next admission process handles it.
    await embedded.client.create(resources.podCliqueSets, sampleSet('neighbour'))
    const { response } = await pending.response
    assert.deepEqual([response.uid, response.allowed, response.status.code], ['u-endless-review', false, 504])
    const responses = await probes
    t.diagnostic(`${responses} probes, ${await longestStall()} s longest stall of the event loop`)
    assert.ok(responses >= 50, `${responses} probes got a response while the request was pending`)
    await waitFor('the pods of the other set', async () => {
      const { items } = await embedded.client.list(resources.pods, { namespace: 'team' })
      return items.length > 0
    })
  })

  test('survives a request that uses all memory, and rejects it', async () => {
    const { response } = await post(webhookPaths.defaultPodCliqueSet, Buffer.from(reviewOf(greedy))).response
    assert.equal(response.allowed, false)
    // On a slow machine the request times out before the memory is used up.
    assert.ok([500, 504].includes(response.status.code), String(response.status.code))
    await embedded.client.create(resources.podCliqueSets, sampleSet('survivor'))
    assert.equal(operator.child.exitCode, null)
  })

  test('leaves no child process behind when it is killed', async () => {
    const { pid } = operator.child
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
    assert.ok(children.length > 0 && children.every(child => child > 0))
    operator.kill()
    await waitFor('its processes to end', async () => children.every(child => !isAlive(child)))
  })

  /** Sends probes in sequence until the response arrives. Returns how many of them succeeded before that. */
  async function probesWhile(response: Promise<unknown>): Promise<number> {
    let isOver = false
    const over = response.finally(() => {
      isOver = true
    })
    over.catch(() => {})
    let responses = 0
    while (!isOver) {
      const { status } = await fetch(`http://127.0.0.1:${operator.ports.probes}/healthz`)
      assert.equal(status, 200)
      if (!isOver) responses++
    }
    return responses
  }

  /** Returns the longest stall since the last call. */
  async function longestStall(): Promise<string> {
    return /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await operator.metrics())?.[1] ?? 'unknown'
  }

  async function renewTime(): Promise<string | undefined> {
    const name = 'grove-operator-leader-election'
    const lease = await embedded.client.get(leases, { namespace: 'grove-system', name })
    return lease.spec?.renewTime
  }

  function post(path: string, body: Buffer) {
    let hasResponse = false
    const response = new Promise<{ response: Response }>((resolve, reject) => {
      const call = request(
        {
          host: '127.0.0.1',
          port: operator.ports.webhooks,
          path: `${path}?timeout=10s`,
          method: 'POST',
          rejectUnauthorized: false,
          headers: { 'content-type': 'application/json', 'content-length': body.length },
        },
        response => {
          const chunks: Buffer[] = []
          response.on('data', chunk => chunks.push(chunk))
          response.on('end', () => {
            hasResponse = true
            resolve(JSON.parse(Buffer.concat(chunks).toString()))
          })
        },
      )
      call.on('error', reject)
      call.end(body)
    })
    return { response, hasResponse: () => hasResponse }
  }
})

interface Response {
  readonly uid: string
  readonly allowed: boolean
  readonly status: { readonly code: number }
}

/** Builds an AdmissionReview as an API server sends it. `extra` is JSON. */
function reviewOf(name: string, extra = '{}'): string {
  const object = JSON.stringify(sampleSet(name))
  return `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-${name}","operation":"CREATE","namespace":"team","kind":{"group":"grove.io","version":"v1alpha1","kind":"PodCliqueSet"},"resource":{"group":"grove.io","version":"v1alpha1","resource":"podcliquesets"},"userInfo":{"username":"alice"},"options":${extra},"object":${object}}}`
}

function sampleSet(name: string): PodCliqueSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name, namespace: 'team' },
    spec: {
      replicas: 1,
      template: {
        cliques: [
          {
            name: 'web',
            spec: {
              roleName: 'web',
              replicas: 1,
              podSpec: { containers: [{ name: 'main', image: 'registry.example/web:1' }] },
            },
          },
        ],
      },
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
