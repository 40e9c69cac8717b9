// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import { FakeClock } from '../clock/index.ts'
import { captureLog } from '../log/index.ts'
import { createAuthority } from './authority.ts'
import { type CertificateBundle, emptyBundle, readCertificates, serverProblem } from './bundle.ts'
import { carryOutRenewal } from './decision.ts'
import type { InjectionStore, InjectionTarget, WebhookConfiguration } from './injection.ts'
import { certificatePolicy } from './policy.ts'
import { CertificateProvisioner } from './provisioner.ts'
import type { CertificateStore, StoredBundle } from './store.ts'

const minute = 60_000
const day = 24 * 60 * minute
const start = Date.UTC(2026, 0, 1)
const name = 'hook.system.svc'
const policy = certificatePolicy({ authorityName: 'Test-CA', serverNames: [name] })
const targets: InjectionTarget[] = [
  { kind: 'validating', name: 'one' },
  { kind: 'mutating', name: 'two' },
]
const never = new AbortController().signal

class MemoryStore implements CertificateStore {
  bundle: CertificateBundle | undefined
  version = 0
  writes = 0

  async read(): Promise<StoredBundle | undefined> {
    return this.bundle && { bundle: this.bundle, origin: this.version }
  }

  async create(bundle: CertificateBundle) {
    return this.bundle ? ('conflict' as const) : this.#write(bundle)
  }

  async replace(stored: StoredBundle, bundle: CertificateBundle) {
    return stored.origin === this.version ? this.#write(bundle) : ('conflict' as const)
  }

  #write(bundle: CertificateBundle) {
    this.bundle = bundle
    this.version++
    this.writes++
    return 'written' as const
  }
}

class MemoryWebhooks implements InjectionStore {
  readonly configurations = new Map<string, WebhookConfiguration>()
  updates = 0
  refuse = false

  constructor() {
    for (const target of targets)
      this.configurations.set(target.name, {
        webhooks: [
          { name: 'a', clientConfig: {} },
          { name: 'b', clientConfig: {} },
        ],
      })
  }

  async read(target: InjectionTarget) {
    return this.configurations.get(target.name)
  }

  async update(target: InjectionTarget, configuration: WebhookConfiguration) {
    if (this.refuse) throw new Error('forbidden')
    this.updates++
    this.configurations.set(target.name, configuration)
    return 'written' as const
  }

  /** The authorities that the API server believes, of every entry the same. */
  get authorities(): X509Certificate[] {
    const bundles = [...this.configurations.values()].flatMap(({ webhooks = [] }) =>
      webhooks.map(webhook => webhook.clientConfig.caBundle ?? ''),
    )
    assert.equal(new Set(bundles).size, 1, 'all entries have one bundle')
    return readCertificates(Buffer.from(bundles[0]!, 'base64').toString())
  }
}

function setUp() {
  const clock = new FakeClock(start)
  const store = new MemoryStore()
  const webhooks = new MemoryWebhooks()
  const { log, lines } = captureLog()
  const newProvisioner = () =>
    new CertificateProvisioner({ store, injection: webhooks, targets, policy, clock, log, random: () => 0 })
  return { clock, store, webhooks, lines, newProvisioner, provisioner: newProvisioner() }
}

/** What a client sees that believes what is injected and connects to what is served. */
function canConnect(provisioner: CertificateProvisioner, webhooks: MemoryWebhooks, now: number): boolean {
  const served = provisioner.source.current()
  if (!served) return false
  const bundle = { ...emptyBundle, serverCert: served.cert, serverKey: served.key }
  return serverProblem(bundle, webhooks.authorities, name, now) === undefined
}

/** Keys are made by other threads, which no clock of ours can hurry. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise<void>(resolve => setImmediate(resolve))
}

describe('the certificate provisioner', () => {
  it('makes, publishes and serves certificates where there are none', async () => {
    const { store, webhooks, provisioner, clock } = setUp()
    assert.equal(provisioner.ready, false)
    assert.equal(provisioner.source.current(), undefined)
    await provisioner.check(never)
    assert.equal(provisioner.ready, true)
    assert.equal(store.writes, 2, 'an empty one, then the whole bundle')
    assert.ok(canConnect(provisioner, webhooks, clock.now()))
  })

  it('changes nothing when nothing is due', async () => {
    const { store, webhooks, newProvisioner, provisioner } = setUp()
    await provisioner.check(never)
    const { writes } = store
    const { updates } = webhooks
    await provisioner.check(never)
    await newProvisioner().check(never)
    assert.equal(store.writes, writes)
    assert.equal(webhooks.updates, updates)
  })

  it('agrees with any number of others that start at the same time', async () => {
    const { webhooks, newProvisioner, clock } = setUp()
    const all = Array.from({ length: 5 }, newProvisioner)
    const stop = new AbortController()
    const running = all.map(one => one.run(stop.signal))
    // Whoever is slower is told of the write of the faster, as by a watch.
    await until(async () => {
      await clock.advance(100)
      for (const one of all) one.changed()
      return all.every(one => one.ready)
    })
    assert.equal(new Set(all.map(one => one.source.current()?.cert)).size, 1)
    assert.ok(all.every(one => one.ready && canConnect(one, webhooks, clock.now())))
    stop.abort()
    await Promise.all(running)
  })

  it('puts back what somebody else wrote', async () => {
    const { webhooks, provisioner, store, clock } = setUp()
    await provisioner.check(never)
    webhooks.configurations.set('one', { webhooks: [{ name: 'a', clientConfig: { caBundle: 'Zm9v' } }] })
    await provisioner.check(never)
    assert.ok(canConnect(provisioner, webhooks, clock.now()))
    store.bundle = emptyBundle
    store.version++
    await provisioner.check(never)
    assert.ok(provisioner.ready)
    assert.ok(canConnect(provisioner, webhooks, clock.now()))
  })

  it('is not ready while a configuration is missing or being deleted, and injects it when it is back', async () => {
    const { webhooks, provisioner, lines, clock } = setUp()
    const one = webhooks.configurations.get('one')!
    const two = webhooks.configurations.get('two')!
    webhooks.configurations.delete('one')
    webhooks.configurations.set('two', { ...two, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })
    assert.equal(await provisioner.check(never), 10_000, 'it looks again within seconds')
    assert.equal(webhooks.updates, 0)
    assert.equal(provisioner.ready, false)
    webhooks.configurations.set('two', two)
    await provisioner.check(never)
    await provisioner.check(never)
    assert.equal(provisioner.ready, false)
    assert.deepEqual(
      lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields.names),
      ['validating one, mutating two', 'validating one'],
      'each state is logged once',
    )
    webhooks.configurations.set('one', one)
    await provisioner.check(never)
    assert.ok(provisioner.ready)
    assert.ok(canConnect(provisioner, webhooks, clock.now()))
    webhooks.configurations.delete('one')
    await provisioner.check(never)
    assert.equal(provisioner.ready, false)
  })

  it('keeps other processes trusted when the store was deleted and a restarted process makes everything anew', async () => {
    const { store, webhooks, newProvisioner, clock } = setUp()
    const [before, other] = [newProvisioner(), newProvisioner()]
    await before.check(never)
    await other.check(never)
    const servedByOther = other.source.current()
    store.bundle = undefined
    const restarted = newProvisioner()
    await restarted.check(never)
    assert.ok(canConnect(restarted, webhooks, clock.now()))
    assert.ok(canConnect(other, webhooks, clock.now()), 'the other has not noticed yet and is trusted')
    assert.equal(webhooks.authorities.length, 2)
    // API servers may not know the new authority for a moment, so the other goes on as it is until they do.
    const wait = await other.check(never)
    assert.deepEqual(other.source.current(), servedByOther)
    assert.ok(other.ready)
    assert.equal(wait, policy.settleMs)
    await clock.advance(wait)
    await other.check(never)
    assert.deepEqual(other.source.current(), restarted.source.current())
    await clock.advance(policy.overlapMs)
    await other.check(never)
    assert.equal(webhooks.authorities.length, 1, 'the replaced authority is retired')
    assert.ok(canConnect(restarted, webhooks, clock.now()) && canConnect(other, webhooks, clock.now()))
  })

  it('keeps no foreign authority when everything is made anew', async () => {
    const { webhooks, provisioner, clock } = setUp()
    const foreign = createAuthority('somebody-else', () => clock.now()).pair.cert
    const ours = await carryOutRenewal(
      emptyBundle,
      { kind: 'renew-all', why: 'test' },
      policy,
      start - 20 * 365 * day,
    )
    const caBundle = Buffer.from(foreign + ours.authorityCerts).toString('base64')
    for (const [name, { webhooks: entries = [] }] of webhooks.configurations)
      webhooks.configurations.set(name, {
        webhooks: entries.map(entry => ({ ...entry, clientConfig: { caBundle } })),
      })
    await provisioner.check(never)
    assert.equal(webhooks.authorities.length, 1)
    assert.ok(canConnect(provisioner, webhooks, clock.now()))
  })

  it('handles a change at once and the following ones once a second, so that two writers cause no loop', async () => {
    const { webhooks, provisioner, clock } = setUp()
    const stop = new AbortController()
    const running = provisioner.run(stop.signal)
    await until(async () => provisioner.ready)
    await clock.settle()
    // The other writer answers every update of ours with its own.
    const update = webhooks.update.bind(webhooks)
    webhooks.update = async (target, configuration) => {
      const result = await update(target, configuration)
      webhooks.configurations.set(target.name, { webhooks: [{ name: 'a', clientConfig: {} }] })
      provisioner.changed()
      return result
    }
    webhooks.configurations.set('one', { webhooks: [{ name: 'a', clientConfig: {} }] })
    const before = webhooks.updates
    provisioner.changed()
    await clock.settle()
    assert.equal(webhooks.updates, before + 1, 'at once')
    for (let second = 1; second <= 3; second++) {
      await clock.advance(1_000)
      assert.equal(webhooks.updates, before + 1 + second)
    }
    stop.abort()
    await running
    assert.equal(clock.pendingTimers, 0)
  })

  it('keeps every client connected through twelve years of renewals, with two processes', async () => {
    const { webhooks, newProvisioner, clock } = setUp()
    const [one, other] = [newProvisioner(), newProvisioner()]
    const seen = new Set<string>()
    let injectedBefore: X509Certificate[] = []
    for (const end = start + 12 * 365 * day; clock.now() < end; ) {
      const wait = Math.min(await one.check(never), await other.check(never))
      for (const process of [one, other]) {
        assert.ok(canConnect(process, webhooks, clock.now()), new Date(clock.now()).toISOString())
        // An API server that still has the bundle from before this look must be able to connect as well.
        const served = new X509Certificate(process.source.current()!.cert)
        if (injectedBefore.length)
          assert.ok(injectedBefore.some(authority => served.verify(authority.publicKey)))
        seen.add(served.serialNumber)
      }
      injectedBefore = webhooks.authorities
      // Twelve hours are many steps for twelve years; nothing is due in between unless it says so.
      await clock.advance(wait === 12 * 60 * minute ? 20 * day : wait)
    }
    assert.ok(seen.size >= 15, `${seen.size} server certificates were served`)
  })

  it('does not move to a new authority while it cannot be published, and goes on serving', async () => {
    const { webhooks, provisioner, store, clock } = setUp()
    await provisioner.check(never)
    const before = provisioner.source.current()
    store.bundle = await carryOutRenewal(
      store.bundle!,
      { kind: 'publish-authority', why: 'test' },
      policy,
      clock.now(),
    )
    store.version++
    webhooks.refuse = true
    await clock.advance(60 * minute)
    await assert.rejects(provisioner.check(never), /forbidden/)
    assert.equal(provisioner.ready, false)
    assert.deepEqual(provisioner.source.current(), before)
    assert.ok(canConnect(provisioner, webhooks, clock.now()))
    webhooks.refuse = false
    await provisioner.check(never)
    assert.equal(provisioner.ready, true)
    assert.notDeepEqual(provisioner.source.current(), before)
    assert.ok(canConnect(provisioner, webhooks, clock.now()))
  })

  it('serves a first certificate although it cannot be published: it cannot make anything worse', async () => {
    const { webhooks, provisioner } = setUp()
    webhooks.refuse = true
    await assert.rejects(provisioner.check(never), /forbidden/)
    assert.ok(provisioner.source.current())
    assert.equal(provisioner.ready, false)
  })

  it('tries again with growing waits and looks at once when told of a change', async () => {
    const { webhooks, provisioner, clock, lines } = setUp()
    webhooks.refuse = true
    const stop = new AbortController()
    const running = provisioner.run(stop.signal)
    await until(async () => lines.some(line => line.level === 'error'))
    webhooks.refuse = false
    provisioner.changed()
    await clock.settle()
    assert.equal(provisioner.ready, true)
    stop.abort()
    await running
    assert.equal(clock.pendingTimers, 0)
  })
})
