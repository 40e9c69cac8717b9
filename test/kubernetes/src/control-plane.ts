// SPDX-License-Identifier: Apache-2.0

// Starts a control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK, on loopback.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '@grove/kube'
import { type Binaries, buildBinaries } from './build.ts'
import { Component, type ComponentName, componentNames, StartError } from './component.ts'
import { writeFiles } from './files.ts'
import { administrator } from './identities.ts'
import { Kubernetes } from './kubernetes.ts'
import type { NodeDefaults, NodeSpec } from './nodes.ts'
import { loopback, releasePorts, withFreePorts } from './ports.ts'
import { Supervisor } from './processes.ts'
import { type Ports, programs } from './programs.ts'
import { readVersions } from './versions.ts'
import { waitFor } from './wait.ts'

export interface KubernetesOptions extends NodeDefaults {
  /** The number of simulated nodes, or a list of them. Default: none. */
  readonly nodes?: number | readonly NodeSpec[]
  /** Feature gates of apiserver, controller-manager and scheduler. */
  readonly featureGates?: Readonly<Record<string, boolean>>
  /** API versions that are disabled by default, for example `scheduling.k8s.io/v1beta1`. */
  readonly runtimeConfig?: Readonly<Record<string, boolean>>
  /** False: no kube-controller-manager, so no garbage collection, no Deployments, no tokens. */
  readonly controllers?: boolean
  /** False: no kube-scheduler. */
  readonly scheduler?: boolean
  /** False: no KWOK. Nodes are Ready but nothing runs on them. */
  readonly kwok?: boolean
  /** Additional flags of a component, which override the built-in ones. */
  readonly flags?: Partial<Record<ComponentName, readonly string[]>>
  /**
   * KWOK Stages as YAML. They replace KWOK's own Stages of the same kinds. Other kinds such as ClusterLogs are
   * allowed.
   */
  readonly stages?: string
  /** The data directory of etcd. If given, it is kept after the end. */
  readonly dataDirectory?: string
  /** The directory of the logs. If given, it is kept after the end. */
  readonly logDirectory?: string
}

/** The settings with which Kubernetes 1.37 serves and schedules Workloads, PodGroups and CompositePodGroups. */
export const nativeGangs = {
  featureGates: { GenericWorkload: true, TopologyAwareWorkloadScheduling: true, CompositePodGroup: true },
  runtimeConfig: { 'scheduling.k8s.io/v1beta1': true, 'scheduling.k8s.io/v1alpha3': true },
} as const satisfies KubernetesOptions

/**
 * Builds the binaries if they are not in the cache, starts the components and returns when the nodes are Ready. However
 * this process ends, its components are stopped and their files removed.
 */
export async function startKubernetes(options: KubernetesOptions = {}): Promise<Kubernetes> {
  const binaries = await buildBinaries()
  return withFreePorts(
    6,
    ports => startOnce(binaries, options, portsOfComponents(ports)),
    error => error instanceof StartError && error.portTaken,
  )
}

async function startOnce(binaries: Binaries, options: KubernetesOptions, ports: Ports): Promise<Kubernetes> {
  await using undo = new AsyncDisposableStack()
  const supervisor = await Supervisor.start()
  undo.defer(() => supervisor.stop())
  const directory = mkdtempSync(join(tmpdir(), 'grove-kubernetes-'))
  await supervisor.removeAtEnd(directory)
  const kubernetes = undo.use(assemble(binaries, options, ports, supervisor, directory))
  await startComponents(kubernetes, options.nodes ?? 0)
  undo.move()
  return kubernetes
}

function assemble(
  binaries: Binaries,
  options: KubernetesOptions,
  ports: Ports,
  supervisor: Supervisor,
  directory: string,
): Kubernetes {
  const authority = createAuthority('grove-test')
  const admin = authority.client(administrator)
  const server = `https://${loopback}:${ports.apiserver}`
  const files = writeFiles(directory, authority, admin, server, options.stages)
  const logDirectory = options.logDirectory ?? join(directory, 'logs')
  const all = programs({
    binaries,
    files,
    ports,
    ca: authority.pair.cert,
    admin,
    dataDirectory: options.dataDirectory ?? join(directory, 'data'),
    logDirectory,
    featureGates: options.featureGates ?? {},
    runtimeConfig: options.runtimeConfig ?? {},
    flags: options.flags ?? {},
  })
  return new Kubernetes({
    binary: binaries.controlPlane,
    version: readVersions().kubernetes,
    directory,
    logDirectory,
    kubeconfig: files.kubeconfig,
    server,
    admin,
    authority,
    ports,
    components: new Map(wantedComponents(options).map(name => [name, new Component(all[name], supervisor)])),
    supervisorPid: supervisor.pid,
    nodeDefaults: { gpus: options.gpus, topology: options.topology },
    stop: async () => {
      await supervisor.stop()
      releasePorts(Object.values(ports))
    },
  })
}

async function startComponents(kubernetes: Kubernetes, nodes: number | readonly NodeSpec[]): Promise<void> {
  await kubernetes.start('etcd')
  await kubernetes.start('kube-apiserver')
  await waitFor('the namespace default', () => kubernetes.request('GET', '/api/v1/namespaces/default'))
  const others = kubernetes.components.filter(name => name !== 'etcd' && name !== 'kube-apiserver')
  await Promise.all([
    ...others.map(name => kubernetes.start(name)),
    kubernetes.ensureServiceAccount('default'),
    kubernetes.addNodes(nodes),
  ])
}

function wantedComponents({
  controllers = true,
  scheduler = true,
  kwok = true,
}: KubernetesOptions): ComponentName[] {
  const left = new Set<ComponentName>()
  if (!controllers) left.add('kube-controller-manager')
  if (!scheduler) left.add('kube-scheduler')
  if (!kwok) left.add('kwok')
  return componentNames.filter(name => !left.has(name))
}

function portsOfComponents(ports: readonly number[]): Ports {
  const [etcd, etcdPeer, apiserver, controllerManager, scheduler, kwok] = ports
  return {
    etcd: etcd!,
    etcdPeer: etcdPeer!,
    apiserver: apiserver!,
    controllerManager: controllerManager!,
    scheduler: scheduler!,
    kwok: kwok!,
  }
}
