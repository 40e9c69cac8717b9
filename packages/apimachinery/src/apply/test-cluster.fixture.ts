// SPDX-License-Identifier: Apache-2.0

import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import type { JsonObject } from '../json-value.ts'
import { RealServer, Replay, type ServedKind } from './real-server.fixture.ts'
import { builtInKinds } from './served-kinds.fixture.ts'

/** A control plane with some custom kinds, on which objects are written and compared. */
export class TestCluster implements AsyncDisposable {
  readonly kubernetes: Kubernetes
  readonly server: RealServer
  readonly namespace: string
  readonly builtIn: Awaited<ReturnType<typeof builtInKinds>>
  #names = 0

  private constructor(parts: Pick<TestCluster, 'kubernetes' | 'server' | 'namespace' | 'builtIn'>) {
    this.kubernetes = parts.kubernetes
    this.server = parts.server
    this.namespace = parts.namespace
    this.builtIn = parts.builtIn
  }

  static async start(definitions: readonly JsonObject[]): Promise<TestCluster> {
    const kubernetes = await startKubernetes({
      controllers: false,
      scheduler: false,
      kwok: false,
      // What admission fills in has no owner, and would only hide what the writers did.
      flags: {
        'kube-apiserver': ['--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority'],
      },
    })
    const server = new RealServer(kubernetes)
    const namespace = await kubernetes.newNamespace()
    await kubernetes.apply(definitions)
    return new TestCluster({ kubernetes, server, namespace, builtIn: await builtInKinds(server, namespace) })
  }

  async served(kind: ServedKind): Promise<ServedKind> {
    await waitFor(kind.path, async () => (await this.server.send('GET', kind.path)).code === 200)
    return kind
  }

  /** An object of its own name that does not exist yet. */
  replay(kind: ServedKind): Replay {
    return new Replay(this.server, kind, `n${this.#names++}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    console.log(`# ${this.server.compared} writes compared, ${this.server.conflicts} of them conflicts`)
    this.server[Symbol.dispose]()
    await this.kubernetes.stop()
  }
}
