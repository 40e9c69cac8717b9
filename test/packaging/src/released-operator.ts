// SPDX-License-Identifier: Apache-2.0

// Runs the operator of a Helm release outside of the cluster, from the bundle of its image. Arguments, environment,
// ConfigMap and service account are those of the release.
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kubernetes } from '@grove/test-kubernetes'
import { OperatorProcess } from '@grove/test-scenarios'
import type { ImageFiles } from './image-process.ts'
import { at, type Rendered, release } from './rendered-chart.ts'

export interface Container {
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly {
    readonly name: string
    readonly value?: string
    readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath?: string } }
  }[]
}

interface PodSpec {
  readonly serviceAccountName: string
  readonly initContainers?: readonly Container[]
  readonly containers: readonly Container[]
  readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[]
}

const configFolder = '/etc/grove-operator/config'

export class ReleasedOperator {
  readonly #kubernetes: Kubernetes
  readonly #images: ImageFiles

  constructor(kubernetes: Kubernetes, images: ImageFiles) {
    this.#kubernetes = kubernetes
    this.#images = images
  }

  async json(...args: string[]): Promise<Rendered> {
    const { code, stdout, stderr } = await this.#kubernetes.kubectl('get', ...args, '-o', 'json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Rendered
  }

  /** Runs the init container to its end, then the operator until it is ready. */
  async start(ports: OperatorProcess['ports']): Promise<OperatorProcess> {
    const pod = await this.#podOf('grove-operator')
    const kubeconfig = await this.#kubeconfigOf(pod.serviceAccountName)
    for (const container of pod.initContainers ?? []) {
      const { code, output } = await ended(
        this.#images.spawn('operator', container, { KUBECONFIG: kubeconfig }),
      )
      assert.equal(code, 0, output)
    }
    const [container] = pod.containers
    const args = container!.args?.map(argument => argument.replace(configFolder, this.#mounted()))
    await this.#mountConfiguration(pod)
    const env = { ...environmentOf(container!, pod), KUBECONFIG: kubeconfig }
    const child = this.#images.spawn('operator', { ...container!, ...(args && { args }) }, env)
    const operator = new OperatorProcess(child, ports)
    await operator.untilReady()
    return operator
  }

  /**
   * Starts the container of another Deployment of the release, with its service account and these further arguments.
   */
  async spawn(deployment: string, ...args: string[]): Promise<ChildProcess> {
    const pod = await this.#podOf(deployment)
    const container = pod.containers[0]!
    return this.#images.spawn(
      'operator',
      { ...container, args: [...(container.args ?? []), ...args] },
      { ...environmentOf(container, pod), KUBECONFIG: await this.#kubeconfigOf(pod.serviceAccountName) },
    )
  }

  /** A kubeconfig with a token of the account, as the kubelet would request it. */
  async #kubeconfigOf(account: string): Promise<string> {
    const { stdout, stderr, code } = await this.#kubernetes.kubectl(
      'create',
      'token',
      account,
      '-n',
      release.namespace,
    )
    assert.equal(code, 0, stderr)
    const file = join(this.#kubernetes.directory, `${account}.kubeconfig`)
    const { server, ca } = this.#kubernetes
    const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
    const document = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: stdout.trim() } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    this.#write(file, JSON.stringify(document))
    return file
  }

  async #mountConfiguration({ volumes }: PodSpec): Promise<void> {
    const name = volumes.find(({ name }) => name === 'operator-config')?.configMap?.name
    const { data } = await this.json('configmap', name!, '-n', release.namespace)
    mkdirSync(this.#mounted(), { recursive: true })
    for (const [file, text] of Object.entries(data as Record<string, string>))
      this.#write(join(this.#mounted(), file), text)
  }

  #mounted(): string {
    return join(this.#kubernetes.directory, 'mounted-config')
  }

  /** The user of the image reads it. */
  #write(file: string, text: string): void {
    chmodSync(this.#kubernetes.directory, 0o755)
    writeFileSync(file, text)
    chmodSync(file, 0o644)
  }

  async #podOf(deployment: string): Promise<PodSpec> {
    const object = await this.json('deployment', deployment, '-n', release.namespace)
    return at(object, 'spec.template.spec') as PodSpec
  }
}

function environmentOf({ env = [] }: Container, pod: PodSpec): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [
      name,
      valueFrom?.fieldRef?.fieldPath === 'spec.serviceAccountName' ? pod.serviceAccountName : (value ?? ''),
    ]),
  )
}

export async function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', chunk => (output += chunk))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve)
    child.once('error', reject)
  })
  return { code, output }
}
