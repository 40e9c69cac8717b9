// SPDX-License-Identifier: Apache-2.0

import { type ControlPlane, RealServer, Replay, type ServedKind } from './real-server.ts'
import { builtInKinds } from './served-kinds.ts'

/** Disables admission plugins, because the fields that they set have no owner. */
export const plainControlPlane = {
  controllers: false,
  scheduler: false,
  kwok: false,
  flags: {
    'kube-apiserver': ['--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority'],
  },
} as const

/** A control plane for comparisons. */
export class TestCluster {
  readonly server: RealServer
  readonly namespace: string
  readonly builtIn: Awaited<ReturnType<typeof builtInKinds>>
  #names = 0

  private constructor(server: RealServer, namespace: string, builtIn: TestCluster['builtIn']) {
    this.server = server
    this.namespace = namespace
    this.builtIn = builtIn
  }

  static async on(controlPlane: ControlPlane, namespace: string): Promise<TestCluster> {
    const server = new RealServer(controlPlane)
    return new TestCluster(server, namespace, await builtInKinds(server, namespace))
  }

  async serves(kind: ServedKind): Promise<boolean> {
    return (await this.server.send('GET', kind.path)).code === 200
  }

  /** Returns a new object with a unique name. */
  replay(kind: ServedKind): Replay {
    return new Replay(this.server, kind, `n${this.#names++}`)
  }

  /** Logs the number of comparisons. */
  close(): void {
    console.log(`# ${this.server.compared} writes compared, ${this.server.conflicts} of them conflicts`)
    this.server[Symbol.dispose]()
  }
}
