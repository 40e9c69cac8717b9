// SPDX-License-Identifier: Apache-2.0

import { type KubeObject, objectKey } from './object.ts'
import { systemPriorities } from './registry/strategies/policy.ts'
import { type ServerContext, timestamp } from './server/context.ts'
import { stampNewObject } from './server/metadata.ts'

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

/** Creates the objects that every Kubernetes cluster starts with. Existing objects stay unchanged. */
export function bootstrap(context: ServerContext): void {
  for (const name of namespaces) createMissing(context, 'namespaces', namespace(name))
  createMissing(context, 'services', kubernetesService())
  for (const [name, value] of Object.entries(systemPriorities))
    createMissing(context, 'priorityclasses.scheduling.k8s.io', systemPriority(name, value))
}

function createMissing(context: ServerContext, storage: string, object: KubeObject): void {
  const key = objectKey(object.metadata.namespace, object.metadata.name!)
  if (context.store.get(storage, key)) return
  stampNewObject(object, timestamp(context.clock.now()), context.random)
  context.store.write(storage, key, object, undefined)
}

function namespace(name: string): KubeObject {
  return {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }
}

function kubernetesService(): KubeObject {
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1'],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  }
}

const systemPlaces: Readonly<Record<string, string>> = {
  'system-cluster-critical': 'run in the cluster, but can be moved to another node if necessary',
  'system-node-critical': 'not be moved from their current node',
}

function systemPriority(name: string, value: number): KubeObject {
  return {
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    metadata: { name, generation: 1 },
    value,
    description: `Used for system critical pods that must ${systemPlaces[name]}.`,
    preemptionPolicy: 'PreemptLowerPriority',
  }
}
