// SPDX-License-Identifier: Apache-2.0

// The directory of one control plane: keys, certificates and kubeconfigs, readable only by their owner.
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterAuthority, KeyPair } from '@grove/kube'
import type { Endpoint } from './api.ts'
import { kubeconfigText } from './kubeconfig.ts'

/** Every name under which a component or a pod can reach the apiserver. */
const serverNames = [
  '127.0.0.1',
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]

export interface Files {
  readonly directory: string
  /** File paths. */
  readonly ca: string
  readonly caKey: string
  readonly serving: string
  readonly servingKey: string
  readonly client: string
  readonly clientKey: string
  readonly frontProxy: string
  readonly frontProxyKey: string
  readonly tokenKey: string
  readonly tokenPublicKey: string
  readonly kubeconfig: string
  readonly controllerManagerKubeconfig: string
  readonly schedulerKubeconfig: string
  readonly stages: string
}

export function writeFiles(
  directory: string,
  authority: ClusterAuthority,
  admin: KeyPair,
  server: string,
  stages = '',
): Files {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const write = (name: string, content: string) => {
    const file = join(directory, name)
    writeFileSync(file, content, { mode: 0o600 })
    return file
  }
  const endpoint = (client: KeyPair): Endpoint => ({ server, ca: authority.pair.cert, client })
  const serving = authority.server('kube-apiserver', serverNames)
  const frontProxy = authority.client({ user: 'front-proxy-client' })
  const token = newSigningKey()
  const kubeconfigOf = (user: string) => kubeconfigText(endpoint(authority.client({ user })))
  return {
    directory,
    ca: write('ca.crt', authority.pair.cert),
    caKey: write('ca.key', authority.pair.key),
    serving: write('serving.crt', serving.cert),
    servingKey: write('serving.key', serving.key),
    client: write('client.crt', admin.cert),
    clientKey: write('client.key', admin.key),
    frontProxy: write('front-proxy.crt', frontProxy.cert),
    frontProxyKey: write('front-proxy.key', frontProxy.key),
    tokenKey: write('service-account.key', token.privateKey),
    tokenPublicKey: write('service-account.pub', token.publicKey),
    kubeconfig: write('kubeconfig', kubeconfigText(endpoint(admin))),
    controllerManagerKubeconfig: write(
      'controller-manager.kubeconfig',
      kubeconfigOf('system:kube-controller-manager'),
    ),
    schedulerKubeconfig: write('scheduler.kubeconfig', kubeconfigOf('system:kube-scheduler')),
    stages: write('kwok.yaml', stages),
  }
}

/** A key pair without a certificate: the apiserver signs the tokens of ServiceAccounts with it. */
function newSigningKey(): { readonly privateKey: string; readonly publicKey: string } {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
}
