// SPDX-License-Identifier: Apache-2.0

import type { Node } from '../controllers/kinds.ts'
import { nodeConditions } from './conditions.ts'
import type { NodePlan } from './topology.ts'

const defaultCpu = '32'
const defaultMemory = '256Gi'
const defaultPods = 110
const defaultGpuResource = 'nvidia.com/gpu'
/** The Kubernetes version that simulated nodes report. */
const kubeletVersion = 'v1.37.1'

/** Returns a simulated node, as its kubelet would register it. */
export function nodeOf(plan: NodePlan, now: number): Node {
  const capacity: Record<string, string> = {
    cpu: plan.cpu ?? defaultCpu,
    memory: plan.memory ?? defaultMemory,
    pods: String(plan.pods ?? defaultPods),
    ...(plan.gpus && { [plan.gpuResource ?? defaultGpuResource]: String(plan.gpus) }),
    ...plan.resources,
  }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: plan.name,
      labels: {
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'kubernetes.io/hostname': plan.name,
        ...plan.labels,
      },
    },
    spec: { ...(plan.taints?.length && { taints: plan.taints.map(taint => ({ ...taint })) }) },
    status: {
      capacity,
      allocatable: capacity,
      conditions: nodeConditions(now),
      addresses: [
        { type: 'InternalIP', address: '127.0.0.1' },
        { type: 'Hostname', address: plan.name },
      ],
      nodeInfo: {
        machineID: '',
        systemUUID: '',
        bootID: '',
        kernelVersion: 'simulated',
        osImage: 'Simulated',
        containerRuntimeVersion: 'simulated://1',
        kubeletVersion,
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
  }
}
