// SPDX-License-Identifier: Apache-2.0

export { ConfigError } from './config-error.ts'
export {
  type InClusterOptions,
  inClusterConfig,
  isInCluster,
  serviceAccountDirectory,
} from './in-cluster.ts'
export {
  configOfContext,
  type KubeconfigOptions,
  kubeconfigPaths,
  loadKubeconfig,
} from './kubeconfig.ts'
export {
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigContext,
  type KubeconfigExec,
  type KubeconfigUser,
  mergeKubeconfigs,
  parseKubeconfig,
} from './kubeconfig-file.ts'
export { loadConfig } from './load-config.ts'
