// SPDX-License-Identifier: Apache-2.0

// A tenant with all kinds of load that must not disturb other tenants: expensive admission requests, huge replica
// counts, pods that always fail, a quota that rejects most children, claims without a template, a missing token, and
// namespaces that are deleted under running sets. Its request rate is bounded. It can also send all of this for copies
// of the kinds, which the operator neither admits nor reconciles: that load is the share of the control plane.
import { names, type PodCliqueSet } from '@grove/api'
import { apiVersionOf, type Client, collectionPath, KubeError, resourceName, setScale } from '@grove/kube'
import { resources } from '@grove/operator'
import { failAnnotation, type Kubernetes, readyAnnotation } from '@grove/test-kubernetes'
import { hostileSets } from '@grove/test-scenarios'
import { pause } from '../scale/stopwatch.ts'
import type { HostileKinds } from './kinds.ts'

const admissionEveryMs = 250
const scaleEveryMs = 1_000
const namespaceEveryMs = 10_000
const absurd = 2_000_000_000
const quota = { podcliques: 10, replicas: 1_000 }

export class HostileTenant {
  readonly #kubernetes: Kubernetes
  readonly #client: Client
  readonly #kinds: HostileKinds
  readonly #did: Record<string, number> = {}
  readonly #loops: Promise<void>[] = []
  readonly #namespaces: string[] = []
  #stopped = false

  constructor(kubernetes: Kubernetes, client: Client, kinds: HostileKinds) {
    this.#kubernetes = kubernetes
    this.#client = client
    this.#kinds = kinds
  }

  async start(): Promise<this> {
    const namespace = await this.#namespace()
    await this.#rejectedChildren()
    await this.#create(namespace, 'fails', { annotations: { [failAnnotation]: 'exit' } }, { replicas: 8 })
    await this.#create(namespace, 'scaled', {}, {})
    await this.#create(namespace, 'unclaimed', {
      resourceSharing: [{ name: 'no-such-template', scope: 'PerReplica' }],
    })
    await this.#withoutToken(namespace)
    this.#loop(admissionEveryMs, index => this.#expensiveReview(namespace, index))
    this.#loop(scaleEveryMs, index => this.#scale(namespace, index))
    this.#loop(namespaceEveryMs, () => this.#deletedNamespace())
    return this
  }

  /** Stops the tenant, deletes its namespaces and returns the number of its actions by type. */
  async stop(): Promise<Readonly<Record<string, number>>> {
    this.#stopped = true
    await Promise.all([...this.#loops, this.#kinds.idle()])
    for (const name of this.#namespaces) await this.#deleteNamespace(name)
    return this.#did
  }

  #loop(everyMs: number, act: (index: number) => Promise<unknown>): void {
    const run = async () => {
      for (let index = 0; !this.#stopped; index++) {
        await this.#tolerant(() => act(index))
        await pause(everyMs)
      }
    }
    this.#loops.push(run())
  }

  /** Rejections are expected. */
  async #tolerant(act: () => Promise<unknown>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      this.#count(`response ${error.status ?? error.code}`)
    }
  }

  async #expensiveReview(namespace: string, index: number): Promise<void> {
    const all = Object.entries(hostileSets)
    const [name, make] = all[index % all.length] ?? all[0]!
    this.#count('expensive admission requests')
    const set = make(name === 'annotations' || name === 'longName' ? 200 : 400) as { metadata: object }
    await this.#client.raw({
      verb: 'create',
      method: 'POST',
      path: `${collectionPath(this.#kinds.sets, namespace)}?dryRun=All`,
      body: {
        ...set,
        apiVersion: apiVersionOf(this.#kinds.sets),
        metadata: { ...set.metadata, namespace },
      },
      contentType: 'application/json',
    })
  }

  async #scale(namespace: string, index: number): Promise<void> {
    this.#count('absurd scales')
    const replicas = index % 2 ? 1 : absurd
    const { sets, groups, cliques } = this.#kinds
    const targets = [
      { resource: sets, name: 'scaled' },
      { resource: groups, name: 'scaled-0-g' },
      { resource: cliques, name: 'scaled-0-alone' },
    ]
    const { resource, name } = targets[Math.floor(index / 2) % targets.length]!
    await setScale(this.#client, resource, { name, namespace }, replicas)
  }

  async #rejectedChildren(): Promise<void> {
    const namespace = await this.#namespace()
    await this.#kubernetes.apply({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'few', namespace },
      spec: { hard: { [`count/${resourceName(this.#kinds.cliques)}`]: String(quota.podcliques) } },
    })
    await this.#create(namespace, 'many', {}, {}, quota.replicas)
  }

  /** A Secret with the name of the token Secret that no controller fills. */
  async #withoutToken(namespace: string): Promise<void> {
    const name = 'tokenless'
    await this.#tolerant(() =>
      this.#client.create(resources.secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: names.tokenSecret(name), namespace },
        type: 'Opaque',
      } as never),
    )
    await this.#create(namespace, name, {}, {}, 20)
  }

  async #deletedNamespace(): Promise<void> {
    this.#count('deleted namespaces')
    const namespace = await this.#namespace()
    await this.#create(namespace, 'short', {}, {}, 5)
    await pause(1_000)
    await this.#deleteNamespace(namespace)
  }

  async #deleteNamespace(name: string): Promise<void> {
    await this.#tolerant(() =>
      this.#client.raw({ verb: 'delete', method: 'DELETE', path: `/api/v1/namespaces/${name}` }),
    )
  }

  async #namespace(): Promise<string> {
    const name = await this.#kubernetes.newNamespace('hostile')
    this.#namespaces.push(name)
    return name
  }

  async #create(
    namespace: string,
    name: string,
    clique: object,
    spec: object = {},
    replicas = 1,
  ): Promise<void> {
    const cliqueOf = (of: string) => ({
      name: of,
      annotations: { [readyAnnotation]: 'true' },
      ...clique,
      spec: {
        roleName: of,
        replicas: 1,
        podSpec: {
          ...('annotations' in clique && { restartPolicy: 'Never' }),
          containers: [{ name: 'main', image: 'registry.example/main:1' }],
        },
        ...spec,
      },
    })
    const set = {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodCliqueSet',
      metadata: { name, namespace },
      spec: {
        replicas,
        template: {
          cliqueStartupType: 'CliqueStartupTypeInOrder',
          cliques: [cliqueOf('alone'), cliqueOf('member')],
          podCliqueScalingGroups: [{ name: 'g', cliqueNames: ['member'] }],
        },
      },
    }
    await this.#tolerant(() => this.#kinds.create(set as unknown as PodCliqueSet))
  }

  #count(what: string): void {
    this.#did[what] = (this.#did[what] ?? 0) + 1
  }
}
