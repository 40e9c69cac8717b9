// SPDX-License-Identifier: Apache-2.0

// Tests with real processes and a real API server: with any fault of the leader, two processes never write at the same
// time. The revisions of the API server prove it: they order every change of the Lease and of the ConfigMap that the
// leader writes.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { loadKubeconfig } from '../auth/index.ts'
import { type Client, createClient, type KubeObject, type Resource } from '../client/index.ts'
import { configMaps } from '../testing/config-maps.ts'
import { leases } from './record.ts'

let kubernetes: Kubernetes
let client: Client
before(async () => {
  kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
  client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
})
after(async () => {
  await client?.close()
  await kubernetes?.stop()
})

/** A process with its own connection to the API server, which can be cut: bytes are then dropped both ways. */
class Candidate {
  readonly identity: string
  readonly #process: ChildProcess
  readonly #proxy: Server
  readonly #sockets = new Set<Socket>()
  #cut = false
  said = ''
  readonly ended: Promise<number | NodeJS.Signals>

  private constructor(identity: string, process: ChildProcess, proxy: Server) {
    this.identity = identity
    this.#process = process
    this.#proxy = proxy
    process.stdout!.setEncoding('utf8').on('data', text => {
      this.said += text
    })
    this.ended = new Promise(resolve => process.once('exit', (code, signal) => resolve(signal ?? code ?? -1)))
    proxy.on('connection', inner => this.#connect(inner))
  }

  static async start(namespace: string, identity: string): Promise<Candidate> {
    const proxy = createServer()
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as { port: number }
    const kubeconfig = join(kubernetes.directory, `${identity}.kubeconfig`)
    const direct = readFileSync(kubernetes.kubeconfig, 'utf8')
    writeFileSync(kubeconfig, direct.replaceAll(kubernetes.server, `https://127.0.0.1:${port}`))
    const program = join(import.meta.dirname, '../testing/lease-candidate.ts')
    const child = spawn(process.execPath, [program], {
      env: { ...process.env, KUBECONFIG: kubeconfig, NAMESPACE: namespace, IDENTITY: identity },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    return new Candidate(identity, child, proxy)
  }

  get leads(): boolean {
    return this.said.startsWith('leads') && !/lost|stopped/.test(this.said)
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  cut(): void {
    this.#cut = true
  }

  async end(): Promise<void> {
    this.signal('SIGCONT')
    this.signal('SIGKILL')
    await this.ended
    for (const socket of this.#sockets) socket.destroy()
    await new Promise<void>(resolve => this.#proxy.close(() => resolve()))
  }

  #connect(inner: Socket): void {
    const outer = connect(Number(new URL(kubernetes.server).port), '127.0.0.1')
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', bytes => {
        if (!this.#cut) to.write(bytes)
      })
      from.on('error', () => {})
      from.on('close', () => {
        if (!this.#cut) to.destroy()
      })
    }
  }
}

/** Returns all states of an object, in the order of the server's revisions. */
async function history<T extends KubeObject>(
  resource: Resource<T>,
  namespace: string,
  stop: AbortSignal,
  reported: (object: T, revision: number) => void,
) {
  const { resourceVersion } = await client.list(resource, { namespace })
  void client
    .watch(resource, { namespace, resourceVersion, signal: stop }, event => {
      if (event.type !== 'BOOKMARK') reported(event.object, Number(event.object.metadata.resourceVersion))
    })
    .catch(error => {
      if (!stop.aborted) throw error
    })
}

class Witness {
  readonly writes: { readonly writer: string; readonly revision: number }[] = []
  readonly holders: { readonly holder: string; readonly revision: number }[] = []
  readonly #stop = new AbortController()

  static async of(namespace: string): Promise<Witness> {
    const witness = new Witness()
    await client.create(configMaps, { metadata: { namespace, name: 'log' } })
    await history(configMaps, namespace, witness.#stop.signal, ({ data }, revision) => {
      if (data?.writer) witness.writes.push({ writer: data.writer, revision })
    })
    await history(leases, namespace, witness.#stop.signal, ({ spec }, revision) => {
      witness.holders.push({ holder: spec?.holderIdentity ?? '', revision })
    })
    return witness
  }

  writesOf(identity: string): number {
    return this.writes.filter(({ writer }) => writer === identity).length
  }

  close(): void {
    this.#stop.abort()
  }

  /** Every write happened while the lease named its writer, and no process wrote after its successor. */
  check(): void {
    const over = new Set<string>()
    let before = ''
    for (const { writer, revision } of this.writes) {
      const { holder } = this.holders.findLast(change => change.revision < revision) ?? {}
      assert.equal(
        writer,
        holder,
        `${writer} wrote at revision ${revision} while the lease was held by ${holder}`,
      )
      if (writer !== before) over.add(before)
      assert.ok(!over.has(writer), `${writer} wrote at revision ${revision}, after its successor`)
      before = writer
    }
  }
}

/** Starts a leader that writes and a second candidate, then disturbs the leader until the second one writes. */
async function handOver(
  strike: (leader: Candidate) => Promise<void> | void,
  afterwards: (leader: Candidate) => Promise<void> | void,
): Promise<void> {
  const namespace = await kubernetes.newNamespace('lease')
  const witness = await Witness.of(namespace)
  const first = await Candidate.start(namespace, 'first')
  const second = await Candidate.start(namespace, 'second')
  try {
    const writing = () => [first, second].find(one => one.leads && witness.writesOf(one.identity) > 10)
    const leader = await waitFor('a leader that writes', writing)
    const other = leader === first ? second : first
    await strike(leader)
    await waitFor('the other process to write', () => witness.writesOf(other.identity) > 10)
    await afterwards(leader)
    const count = witness.writesOf(other.identity)
    await waitFor(
      'the other process to continue writing',
      () => witness.writesOf(other.identity) > count + 20,
    )
    assert.ok(other.leads)
    witness.check()
  } finally {
    await Promise.all([first.end(), second.end()])
    witness.close()
  }
}

describe('leadership passes to another process, and two never write at the same time', () => {
  it('if the leader is killed', () =>
    handOver(
      leader => leader.signal('SIGKILL'),
      () => {},
    ))

  it('if the leader stops gracefully: at once, with a released lease', () =>
    handOver(
      async leader => {
        leader.signal('SIGTERM')
        assert.equal(await leader.ended, 0)
        assert.match(leader.said, /stopped/)
      },
      () => {},
    ))

  for (const round of [1, 2, 3])
    it(`if the leader is paused, and resumes long after it was replaced (${round})`, () =>
      handOver(
        leader => leader.signal('SIGSTOP'),
        async leader => {
          leader.signal('SIGCONT')
          assert.equal(await leader.ended, 6)
          assert.match(leader.said, /lost/)
        },
      ))

  it('if the leader is cut off from the API server', () =>
    handOver(
      leader => leader.cut(),
      async leader => {
        assert.equal(await leader.ended, 6)
        assert.match(leader.said, /lost/)
      },
    ))

  it('if the leader is paused only briefly: it stays leader', async () => {
    const namespace = await kubernetes.newNamespace('lease')
    const witness = await Witness.of(namespace)
    const only = await Candidate.start(namespace, 'only')
    try {
      await waitFor('a leader that writes', () => witness.writesOf('only') > 10)
      only.signal('SIGSTOP')
      only.signal('SIGCONT')
      const count = witness.writesOf('only')
      await waitFor('the leader to continue writing', () => witness.writesOf('only') > count + 20)
      assert.ok(only.leads)
      witness.check()
    } finally {
      await only.end()
      witness.close()
    }
  })
})
