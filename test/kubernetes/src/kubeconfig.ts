// SPDX-License-Identifier: Apache-2.0

// Kubeconfig files, written as JSON, which is valid YAML.
import type { Endpoint } from './api.ts'

/** Name of cluster, user and context. It distinguishes kubeconfigs of this program from others. */
export const clusterName = 'grove-test'

export function kubeconfigText({ server, ca, client }: Endpoint): string {
  const name = clusterName
  const base64 = (pem: string) => Buffer.from(pem).toString('base64')
  const user = client && {
    'client-certificate-data': base64(client.cert),
    'client-key-data': base64(client.key),
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name, user: user ?? {} }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
  }
  return `${JSON.stringify(config, null, 2)}\n`
}
