// SPDX-License-Identifier: Apache-2.0

// Runs the operator as in production: a process with a configuration file and its own service account, which has
// exactly the documented permissions. The API server calls its webhooks.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type ClusterRole,
  customResourceDefinitions,
  loadConfiguration,
  type OperatorConfiguration,
  type Role,
} from '@grove/api'
import type { KubeObject } from '@grove/kube'
import { operatorClusterRole, operatorRole, webhookConfigurations } from '@grove/operator'
import { freePorts, serviceAccount, waitFor } from '@grove/test-kubernetes'
import type { OperatorHost } from './operator-host.ts'

export const operatorNamespace = 'grove-system'
const namespace = operatorNamespace
const account = 'grove-operator'
const main = resolve(import.meta.dirname, '../../../packages/operator/src/main.ts')
/** The unit of CPU times in /proc, the same on every Linux. */
const ticksPerSecond = 100

export interface ConfigurationMembers {
  readonly server?: { readonly webhooks?: object; readonly metrics?: object }
  readonly [section: string]: unknown
}

export interface OperatorProcessOptions {
  /** Fields of the configuration in addition to the addresses. */
  readonly configuration?: ConfigurationMembers
  /** Node options, before the program. */
  readonly nodeFlags?: readonly string[]
  /** Used instead of a direct connection as the operator's service account. */
  readonly kubeconfig?: string
  /** The port of the webhook configurations, if it is not that of the first process. */
  readonly servicePort?: number
  /** True if the test applies the webhook configurations itself. */
  readonly withoutWebhookConfigurations?: boolean
}

/** The part of a host that installing an operator needs. */
export type Installable = Pick<OperatorHost, 'directory' | 'apply' | 'kubeconfigFor'>

export interface InstalledOperator {
  /** The webhook configurations, even if they are not applied. */
  readonly webhookConfigurations: readonly KubeObject[]
  /** Starts the process and waits until it is ready. */
  start(): Promise<OperatorProcess>
  /** Parameters of the process, for tests that start it in another way. */
  readonly launch: { readonly config: string; readonly env: NodeJS.ProcessEnv; readonly ports: Ports }
  /** Starts the process without waiting. A replica gets its own ports, so that several can run. */
  spawn(options?: { readonly replica?: boolean }): Promise<OperatorProcess>
}

/** The operator's user for the API server. */
export const operatorIdentity = serviceAccount(namespace, account)
export const operatorUser = operatorIdentity.user

export class OperatorProcess {
  readonly child: ChildProcess
  readonly ports: Ports
  #output = ''

  constructor(child: ChildProcess, ports: Ports) {
    this.child = child
    this.ports = ports
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', chunk => (this.#output += chunk))
  }

  /** Standard output and standard error. */
  get output(): string {
    return this.#output
  }

  async untilReady(): Promise<void> {
    const ended = new AbortController()
    this.child.once('close', code =>
      ended.abort(new Error(`the operator ended with ${code}: ${this.#output}`)),
    )
    const isReady = async () => {
      const response = await fetch(`http://127.0.0.1:${this.ports.probes}/readyz`).catch(() => undefined)
      return response?.status === 200
    }
    await waitFor('the operator to be ready', isReady, { signal: ended.signal })
  }

  /** Returns undefined if the certificates are ready, else the reason from the probe. */
  async certificateProblem(): Promise<string | undefined> {
    const response = await fetch(`http://127.0.0.1:${this.ports.probes}/readyz/certificates`)
    const text = await response.text()
    return response.status === 200 ? undefined : text
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.ports.metrics}/metrics`)).text()
  }

  /** Returns the number of writes by verb and resource, without renewals of the lease. */
  async writes(): Promise<ReadonlyMap<string, number>> {
    const pattern = /^rest_client_request_duration_seconds_count\{verb="(\w+)",resource="([^"]+)"\} (\d+)$/gm
    return new Map(
      [...(await this.metrics()).matchAll(pattern)]
        .filter(([, verb, resource]) => !['get', 'list'].includes(verb!) && !resource!.startsWith('leases.'))
        .map(([, verb, resource, count]) => [`${verb} ${resource}`, Number(count)]),
    )
  }

  /** Returns the CPU time of the process in seconds. */
  cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
  }

  /** Returns the resident memory, current and peak. */
  residentMiB(): { now: number; peak: number } {
    const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8')
    const read = (field: string) =>
      Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
    return { now: read('VmRSS'), peak: read('VmHWM') }
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }

  /** Stops the process as a kubelet does. Returns its exit code; null if the grace period ended first. */
  async terminate(graceMs = 30_000): Promise<number | null> {
    const exited = new Promise<number | null>(resolve => this.child.once('exit', resolve))
    this.child.kill('SIGTERM')
    const timer = setTimeout(() => this.kill(), graceMs)
    const code = await exited
    clearTimeout(timer)
    return code
  }
}

export interface Ports {
  readonly webhooks: number
  readonly probes: number
  readonly metrics: number
}

/** Installs custom resources, RBAC and webhook configurations, starts the operator and waits until it is ready. */
export async function startOperatorProcess(
  kubernetes: Installable,
  options: OperatorProcessOptions = {},
): Promise<OperatorProcess> {
  return (await installOperator(kubernetes, options)).start()
}

/** Installs everything that an operator needs in the cluster. The process can be started several times. */
export async function installOperator(
  kubernetes: Installable,
  {
    configuration = {},
    nodeFlags = [],
    kubeconfig,
    servicePort,
    withoutWebhookConfigurations = false,
  }: OperatorProcessOptions = {},
): Promise<InstalledOperator> {
  const ports = await newPorts()
  const loaded = loadConfiguration(configurationDocument(ports, configuration))
  if (loaded.outcome !== 'loaded') throw new Error(JSON.stringify(loaded))
  const hooks = webhookConfigurations(
    {
      namespace,
      name: loaded.configuration.server.webhooks.serviceName,
      port: servicePort ?? ports.webhooks,
    },
    loaded.configuration,
  )
  await kubernetes.apply(customResourceDefinitions as never)
  await kubernetes.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
    ...operatorAccess(loaded.configuration),
    {
      // Leads the API server to this machine under the host name in the certificate.
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'grove-operator', namespace },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    ...(withoutWebhookConfigurations ? [] : hooks),
  ] as never)
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig ?? kubernetes.kubeconfigFor(operatorIdentity),
    GROVE_OPERATOR_NAMESPACE: namespace,
    GROVE_OPERATOR_SERVICE_ACCOUNT_NAME: account,
    GROVE_INIT_CONTAINER_IMAGE: 'grove-initc',
  }
  const configFor = (chosen: Ports) => {
    const config = join(kubernetes.directory, `operator-${chosen.webhooks}.yaml`)
    writeFileSync(config, JSON.stringify(configurationDocument(chosen, configuration)))
    return config
  }
  const spawnOn = (chosen: Ports) => {
    const config = configFor(chosen)
    const child = spawn(process.execPath, [...nodeFlags, main, `--config=${config}`], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return new OperatorProcess(child, chosen)
  }
  return {
    webhookConfigurations: hooks as readonly KubeObject[],
    launch: { config: configFor(ports), env, ports },
    spawn: async ({ replica = false } = {}) => spawnOn(replica ? await newPorts() : ports),
    start: async () => {
      const operator = spawnOn(ports)
      try {
        await operator.untilReady()
      } catch (error) {
        operator.kill()
        throw error
      }
      return operator
    },
  }
}

async function newPorts(): Promise<Ports> {
  const [webhooks = 0, probes = 0, metrics = 0] = await freePorts(3)
  return { webhooks, probes, metrics }
}

function configurationDocument(ports: Ports, { server = {}, ...rest }: ConfigurationMembers): object {
  const bindAddress = '127.0.0.1'
  return {
    apiVersion: 'operator.config.grove.io/v1alpha1',
    kind: 'OperatorConfiguration',
    leaderElection: { enabled: true },
    server: {
      webhooks: { bindAddress, port: ports.webhooks, ...server.webhooks },
      healthProbes: { bindAddress, port: ports.probes },
      metrics: { bindAddress, port: ports.metrics, ...server.metrics },
    },
    ...rest,
  }
}

/** The roles of the operator under this configuration, bound to its account. */
export function operatorAccess(configuration: OperatorConfiguration): object[] {
  return grant(account, operatorClusterRole(configuration), operatorRole(namespace, configuration))
}

/** Binds these roles to an account of the operator's namespace. */
export function grant(name: string, clusterRole: ClusterRole, role: Role): object[] {
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  const binding = (kind: string, of: { kind: string; metadata: { name: string } }, metadata: object) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind,
    metadata: { name: of.metadata.name, ...metadata },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: of.kind, name: of.metadata.name },
    subjects,
  })
  return [
    clusterRole,
    role,
    binding('ClusterRoleBinding', clusterRole, {}),
    binding('RoleBinding', role, { namespace }),
  ]
}
