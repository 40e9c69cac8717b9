// SPDX-License-Identifier: Apache-2.0

// The flags and the readiness probe of each component.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyPair } from '@grove/kube'
import { Api, type Endpoint } from './api.ts'
import type { Binaries } from './build.ts'
import type { ComponentName, Program } from './component.ts'
import type { Files } from './files.ts'
import { loopback } from './ports.ts'

export interface Ports {
  readonly etcd: number
  readonly etcdPeer: number
  readonly apiserver: number
  readonly controllerManager: number
  readonly scheduler: number
  readonly kwok: number
}

export interface ProgramSettings {
  readonly binaries: Binaries
  readonly files: Files
  readonly ports: Ports
  readonly ca: string
  readonly admin: KeyPair
  readonly dataDirectory: string
  readonly logDirectory: string
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly runtimeConfig: Readonly<Record<string, boolean>>
  /** Appended to the computed flags, so that they take precedence. */
  readonly flags: Partial<Record<ComponentName, readonly string[]>>
}

export function programs(settings: ProgramSettings): Record<ComponentName, Program> {
  const { binaries, files, ports } = settings
  mkdirSync(settings.logDirectory, { recursive: true })
  mkdirSync(settings.dataDirectory, { recursive: true, mode: 0o700 })
  const program = (name: ComponentName, port: number, path: string, args: string[]): Program => ({
    name,
    command: name === 'kwok' ? binaries.kwok : binaries.controlPlane,
    args: [...(name === 'kwok' ? [] : [name]), ...args, ...(settings.flags[name] ?? [])],
    // No variable of the caller's environment: no KUBECONFIG, no proxies, no ~/.kwok.
    env: { PATH: process.env.PATH ?? '', HOME: files.directory, TMPDIR: files.directory },
    directory: files.directory,
    log: join(settings.logDirectory, `${name}.log`),
    ready: probe({ server: `https://${loopback}:${port}`, ca: settings.ca, client: settings.admin }, path),
  })
  return {
    etcd: program('etcd', ports.etcd, '/readyz', etcdFlags(settings)),
    'kube-apiserver': program('kube-apiserver', ports.apiserver, '/readyz', apiserverFlags(settings)),
    'kube-controller-manager': program(
      'kube-controller-manager',
      ports.controllerManager,
      '/healthz',
      controllerManagerFlags(settings),
    ),
    'kube-scheduler': program('kube-scheduler', ports.scheduler, '/readyz', schedulerFlags(settings)),
    kwok: program('kwok', ports.kwok, '/healthz', kwokFlags(settings)),
  }
}

// Every certificate is signed by this control plane's own CA, so that the probe of another control plane on this port
// fails.
function probe(endpoint: Endpoint, path: string): () => Promise<boolean> {
  return async () => {
    const api = new Api(endpoint)
    try {
      return (await api.text('GET', path)).status === 200
    } finally {
      api.close()
    }
  }
}

function etcdFlags({ files, ports, dataDirectory }: ProgramSettings): string[] {
  const client = `https://${loopback}:${ports.etcd}`
  const peer = `http://${loopback}:${ports.etcdPeer}`
  return [
    '--name=etcd',
    `--data-dir=${join(dataDirectory, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=etcd=${peer}`,
    `--cert-file=${files.serving}`,
    `--key-file=${files.servingKey}`,
    `--trusted-ca-file=${files.ca}`,
    '--client-cert-auth',
    // Data lost in a power failure does not matter here, and a disk sync at every write would be slow.
    '--unsafe-no-fsync',
    '--quota-backend-bytes=8589934592',
    '--enable-grpc-gateway=false',
    '--log-level=warn',
  ]
}

function apiserverFlags({ files, ports, featureGates, runtimeConfig }: ProgramSettings): string[] {
  return [
    `--etcd-servers=https://${loopback}:${ports.etcd}`,
    `--etcd-cafile=${files.ca}`,
    `--etcd-certfile=${files.client}`,
    `--etcd-keyfile=${files.clientKey}`,
    `--bind-address=${loopback}`,
    `--advertise-address=${loopback}`,
    `--secure-port=${ports.apiserver}`,
    // The endpoints of the Service "kubernetes" must not be loopback addresses.
    '--endpoint-reconciler-type=none',
    `--tls-cert-file=${files.serving}`,
    `--tls-private-key-file=${files.servingKey}`,
    `--client-ca-file=${files.ca}`,
    '--authorization-mode=Node,RBAC',
    '--allow-privileged=true',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${files.tokenPublicKey}`,
    `--service-account-signing-key-file=${files.tokenKey}`,
    // Without these, controller-manager and scheduler log errors about a missing front-proxy CA.
    `--requestheader-client-ca-file=${files.ca}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${files.frontProxy}`,
    `--proxy-client-key-file=${files.frontProxyKey}`,
    // By default the apiserver would first resolve the node's name for logs and exec.
    '--kubelet-preferred-address-types=InternalIP',
    `--kubelet-certificate-authority=${files.ca}`,
    `--kubelet-client-certificate=${files.client}`,
    `--kubelet-client-key=${files.clientKey}`,
    '--max-requests-inflight=800',
    '--max-mutating-requests-inflight=400',
    ...mapFlag('runtime-config', runtimeConfig),
    ...mapFlag('feature-gates', featureGates),
  ]
}

function controllerManagerFlags(settings: ProgramSettings): string[] {
  const { files, ports, featureGates } = settings
  return [
    ...servingFlags(files, ports.controllerManager, files.controllerManagerKubeconfig),
    '--use-service-account-credentials',
    // Tests pause the process that sends heartbeats for simulated nodes; the nodes should not lose their pods then.
    '--node-monitor-grace-period=10m',
    `--root-ca-file=${files.ca}`,
    `--service-account-private-key-file=${files.tokenKey}`,
    `--cluster-signing-cert-file=${files.ca}`,
    `--cluster-signing-key-file=${files.caKey}`,
    ...mapFlag('feature-gates', featureGates),
  ]
}

function schedulerFlags({ files, ports, featureGates }: ProgramSettings): string[] {
  return [
    ...servingFlags(files, ports.scheduler, files.schedulerKubeconfig),
    '--kube-api-qps=1000',
    '--kube-api-burst=1500',
    ...mapFlag('feature-gates', featureGates),
  ]
}

function servingFlags(files: Files, port: number, kubeconfig: string): string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics',
    '--leader-elect=false',
    `--bind-address=${loopback}`,
    `--secure-port=${port}`,
    `--tls-cert-file=${files.serving}`,
    `--tls-private-key-file=${files.servingKey}`,
    `--client-ca-file=${files.ca}`,
  ]
}

function kwokFlags({ files, ports }: ProgramSettings): string[] {
  return [
    `--kubeconfig=${files.kubeconfig}`,
    `--config=${files.stages}`,
    '--manage-all-nodes=false',
    '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
    `--node-ip=${loopback}`,
    `--node-port=${ports.kwok}`,
    `--server-address=${loopback}:${ports.kwok}`,
    `--tls-cert-file=${files.serving}`,
    `--tls-private-key-file=${files.servingKey}`,
    '--node-lease-duration-seconds=40',
    // Pods get addresses that no component connects to. For loopback addresses the endpoint controllers would reject
    // every write.
    '--cidr=198.18.0.0/15',
  ]
}

export function mapFlag(name: string, values: Readonly<Record<string, boolean>>): string[] {
  const pairs = Object.entries(values).map(([key, value]) => `${key}=${value}`)
  return pairs.length ? [`--${name}=${pairs.join(',')}`] : []
}
