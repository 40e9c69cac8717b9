// SPDX-License-Identifier: Apache-2.0

// A running control plane, as tests use it.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientIdentity, ClusterAuthority, KeyPair } from '@grove/kube'
import { Api, ApiError, type Endpoint, type RequestOptions } from './api.ts'
import type { Component, ComponentName, ComponentState } from './component.ts'
import { kubeconfigText } from './kubeconfig.ts'
import { type KubectlOptions, type KubectlResult, kubectlEnvironment, runKubectl } from './kubectl.ts'
import { createNodes, type NodeDefaults, type NodeSpec, nodeSpecs } from './nodes.ts'
import type { Ports } from './programs.ts'

export interface KubernetesParts {
  readonly binary: string
  readonly version: string
  readonly directory: string
  readonly logDirectory: string
  readonly kubeconfig: string
  readonly server: string
  readonly admin: KeyPair
  readonly authority: ClusterAuthority
  readonly ports: Ports
  readonly components: ReadonlyMap<ComponentName, Component>
  readonly supervisorPid: number
  readonly nodeDefaults: NodeDefaults
  readonly stop: () => Promise<void>
}

export class Kubernetes implements AsyncDisposable {
  /** Path of a kubeconfig with the permissions of an administrator. */
  readonly kubeconfig: string
  /** For example https://127.0.0.1:20001. */
  readonly server: string
  /** The certificate of the CA, PEM. */
  readonly ca: string
  /** Client certificate of an administrator. */
  readonly admin: KeyPair
  /** For example v1.37.1. */
  readonly version: string
  readonly ports: Ports
  /** Removed at the end, with all its files. */
  readonly directory: string
  readonly logDirectory: string
  readonly supervisorPid: number
  readonly #parts: KubernetesParts
  readonly #api: Api
  #nodeCount = 0
  #identities = 0
  readonly #stopped = new AbortController()
  #stopping: Promise<void> | undefined

  constructor(parts: KubernetesParts) {
    this.#parts = parts
    this.kubeconfig = parts.kubeconfig
    this.server = parts.server
    this.ca = parts.authority.pair.cert
    this.admin = parts.admin
    this.version = parts.version
    this.ports = parts.ports
    this.directory = parts.directory
    this.logDirectory = parts.logDirectory
    this.supervisorPid = parts.supervisorPid
    this.#api = new Api({ server: this.server, ca: this.ca, client: this.admin })
  }

  /** Takes command-line arguments; the last one may be options instead. A failing kubectl is a result, not an error. */
  kubectl(...args: (string | KubectlOptions)[]): Promise<KubectlResult> {
    const last = args.at(-1)
    const options: KubectlOptions = typeof last === 'object' ? last : {}
    const plain = args.filter(arg => typeof arg === 'string')
    const env = kubectlEnvironment(
      options.kubeconfig ?? this.kubeconfig,
      join(this.directory, 'kubectl-cache'),
    )
    return runKubectl(this.#parts.binary, plain, env, options.input)
  }

  /** Writes a program `kubectl` into a folder, for scripts. It uses the KUBECONFIG of its caller. */
  writeKubectl(folder: string): void {
    const script = `#!/bin/sh\nexec '${this.#parts.binary}' kubectl "$@"\n`
    writeFileSync(join(folder, 'kubectl'), script, { mode: 0o755 })
  }

  /** Server-side apply of YAML text with one object or many; throws an error with the message of kubectl. */
  async apply(manifest: string | object | readonly object[], ...args: string[]): Promise<void> {
    const input =
      typeof manifest === 'string'
        ? manifest
        : [manifest]
            .flat()
            .map(object => JSON.stringify(object))
            .join('\n---\n')
    const { code, stderr } = await this.kubectl('apply', '--server-side', '-f', '-', ...args, { input })
    if (code !== 0) throw new Error(`kubectl apply failed: ${stderr.trim()}`)
  }

  /** One JSON request as an administrator; throws an ApiError for a status of 400 and above. */
  request<T = unknown>(method: string, path: string, options?: RequestOptions): Promise<T> {
    return this.#api.request<T>(method, path, options)
  }

  /**
   * Adds this number of nodes with the shape given at the start, or exactly these nodes. Returns when they are Ready.
   */
  async addNodes(nodes: number | readonly NodeSpec[]): Promise<readonly NodeSpec[]> {
    const specs =
      typeof nodes === 'number' ? nodeSpecs(nodes, this.#parts.nodeDefaults, this.#nodeCount) : nodes
    if (typeof nodes === 'number') this.#nodeCount += nodes
    await createNodes(this.#api, specs, this.#parts.components.has('kwok'), this.#stopped.signal)
    return specs
  }

  /** Creates a namespace with a unique name, in which pods can be created at once. */
  async newNamespace(prefix = 'test'): Promise<string> {
    const { metadata } = await this.request<{ metadata: { name: string } }>('POST', '/api/v1/namespaces', {
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: `${prefix}-` } },
    })
    await this.ensureServiceAccount(metadata.name)
    return metadata.name
  }

  /**
   * The apiserver rejects pods in a namespace until its ServiceAccount "default" exists. kube-controller-manager
   * creates it seconds later, or never if it does not run.
   */
  async ensureServiceAccount(namespace: string): Promise<void> {
    try {
      await this.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, {
        body: { metadata: { name: 'default' } },
      })
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error
    }
  }

  /** Returns a client certificate that this control plane accepts, for tests of RBAC. */
  clientCertificate(identity: ClientIdentity): KeyPair {
    return this.#parts.authority.client(identity)
  }

  /** Returns a serving certificate signed by `ca`, for a webhook of the test. */
  servingCertificate(...names: string[]): KeyPair {
    return this.#parts.authority.server(names[0] ?? 'localhost', names)
  }

  /** Returns the path of a kubeconfig for the identity. */
  kubeconfigFor(identity: ClientIdentity): string {
    const endpoint: Endpoint = { server: this.server, ca: this.ca, client: this.clientCertificate(identity) }
    const file = join(this.directory, `identity-${this.#identities++}.kubeconfig`)
    writeFileSync(file, kubeconfigText(endpoint), { mode: 0o600 })
    return file
  }

  get components(): readonly ComponentName[] {
    return [...this.#parts.components.keys()]
  }

  logs(name: ComponentName): string {
    return this.#component(name).logs()
  }

  pid(name: ComponentName): number | undefined {
    return this.#component(name).pid
  }

  state(name: ComponentName): ComponentState {
    return this.#component(name).state
  }

  /** Pauses a component: its connections stay open and get no response. */
  pause(name: ComponentName): Promise<void> {
    return this.#component(name).pause()
  }

  resume(name: ComponentName): Promise<void> {
    return this.#component(name).resume()
  }

  /** Returns when the component has exited. */
  kill(name: ComponentName, signal?: NodeJS.Signals): Promise<void> {
    return this.#component(name).kill(signal)
  }

  /** Starts a component that was killed; returns when it is ready. */
  async start(name: ComponentName): Promise<void> {
    const component = this.#component(name)
    if (name === 'kwok' && this.state('kube-apiserver') === 'running') await this.#endNodeLeases()
    await component.start()
  }

  /** Kills a component, by default with SIGKILL, and returns when its successor is ready. */
  async restart(name: ComponentName, signal?: NodeJS.Signals): Promise<void> {
    await this.kill(name, signal)
    await this.start(name)
  }

  /** Ends every process and removes the directory. It can be called more than once. */
  stop(): Promise<void> {
    this.#stopped.abort(new Error('The control plane was stopped'))
    this.#api.close()
    this.#stopping ??= this.#parts.stop()
    return this.#stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  // A new KWOK would wait until the leases of the previous one expire, and not manage the nodes until then.
  async #endNodeLeases(): Promise<void> {
    await this.request('DELETE', '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases')
  }

  #component(name: ComponentName): Component {
    const component = this.#parts.components.get(name)
    if (!component) throw new Error(`${name} is not part of this control plane`)
    return component
  }
}
