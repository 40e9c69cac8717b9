// SPDX-License-Identifier: Apache-2.0

// Simulates the init containers of pods with startup dependencies on KWOK nodes. It runs the waiter as a process with
// the token that the pod mounts. The pod becomes ready after the waiter has succeeded.
import { type Pod, waiter } from '@grove/api'
import { type Client, isNotFound, type Stored, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import { readyAnnotation } from '@grove/test-kubernetes'
import { type RunningWaiter, WaiterHost } from '@grove/waiter/testing'

const startDelay = 'simulate.grove.io/start-delay'

export class PodStarter implements AsyncDisposable {
  /** Running and finished waiters. */
  readonly waiters: RunningWaiter[] = []
  readonly #client: Client
  readonly #server: string
  readonly #pods: WatchCache<Pod>
  readonly #hosts = new Map<string, Promise<WaiterHost>>()
  readonly #begun = new Set<string>()
  readonly #stop = new AbortController()
  readonly #watching: Promise<void>

  constructor(client: Client, server: string, namespace: string) {
    this.#client = client
    this.#server = server
    this.#pods = new WatchCache(client, resources.pods, { namespace })
    this.#pods.onChange(({ new: pod }) => {
      if (pod?.status?.phase !== 'Running' || this.#begun.has(pod.metadata.uid)) return
      this.#begun.add(pod.metadata.uid)
      void this.#start(pod).catch(error => {
        if (!this.#stop.signal.aborted && !isNotFound(error)) throw error
      })
    })
    this.#watching = this.#pods.run(this.#stop.signal)
  }

  async #start(pod: Stored<Pod>): Promise<void> {
    const container = pod.spec?.initContainers?.find(({ name }) => name === waiter.containerName)
    // A kubelet restarts an init container until it succeeds.
    while (container && !this.#stop.signal.aborted) {
      const host = await this.#hostFor(pod)
      const running = host.start(...(container.args ?? []).map(arg => arg.replace('--podcliques=', '')))
      this.waiters.push(running)
      if ((await running.code) === 0) break
    }
    if (this.#stop.signal.aborted) return
    const delay = /^(\d+)ms$/.exec(pod.metadata.annotations?.[startDelay] ?? '')?.[1] ?? '0'
    await new Promise(resolve => setTimeout(resolve, Number(delay)))
    const { name, namespace = '' } = pod.metadata
    await this.#client.patch(
      resources.pods,
      { name, namespace },
      { merge: { metadata: { annotations: { [readyAnnotation]: 'true' } } } },
    )
  }

  /** All pods of one set mount the same Secret. */
  #hostFor(pod: Stored<Pod>): Promise<WaiterHost> {
    const volume = pod.spec?.volumes?.find(({ name }) => name === waiter.tokenVolume)
    const secret = volume?.secret?.secretName ?? ''
    const known = this.#hosts.get(secret) ?? this.#mount(secret, pod.metadata.namespace ?? '')
    this.#hosts.set(secret, known)
    return known
  }

  async #mount(name: string, namespace: string): Promise<WaiterHost> {
    const { data } = await this.#client.get(resources.secrets, { name, namespace })
    const decoded = (key: string) => {
      const text = data?.[key]
      // The operator creates pods with startup dependencies only after the Secret has a token.
      if (!text) throw new Error(`Secret ${namespace}/${name} has no ${key}`)
      return Buffer.from(text, 'base64').toString()
    }
    return new WaiterHost({ server: this.#server, namespace, token: decoded('token'), ca: decoded('ca.crt') })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#watching
    for (const host of this.#hosts.values()) await (await host)[Symbol.asyncDispose]()
  }
}
