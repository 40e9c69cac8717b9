// SPDX-License-Identifier: Apache-2.0

export { ApiError, type RequestOptions } from './api.ts'
export { type Binaries, buildBinaries } from './build.ts'
export { type ComponentName, type ComponentState, StartError } from './component.ts'
export { type KubernetesOptions, nativeGangs, startKubernetes } from './control-plane.ts'
export { buildHelm, type Helm } from './helm.ts'
export { serviceAccount } from './identities.ts'
export type { KubectlOptions, KubectlResult } from './kubectl.ts'
export type { Kubernetes } from './kubernetes.ts'
export { defaultTopology, type NodeSpec, nodeSpecs, type Topology, topologyLabels } from './nodes.ts'
export { freePorts } from './ports.ts'
export { failAnnotation, gatedStages, readyAnnotation } from './stages.ts'
export { type WaitOptions, waitFor } from './wait.ts'
