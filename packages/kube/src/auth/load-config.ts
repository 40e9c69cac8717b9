// SPDX-License-Identifier: Apache-2.0

import type { ClusterConfig } from '../client/cluster-config.ts'
import { type InClusterOptions, inClusterConfig, isInCluster } from './in-cluster.ts'
import { type KubeconfigOptions, loadKubeconfig } from './kubeconfig.ts'

/**
 * Finds the cluster for a controller: the given kubeconfig, else KUBECONFIG, else the cluster of the pod, else
 * ~/.kube/config. Promised: credentials are renewed without a restart. Files are read again when they rotate, and a
 * credential plugin runs again when its result expires or is rejected.
 */
export function loadConfig(options: KubeconfigOptions & InClusterOptions = {}): ClusterConfig {
  const environment = options.environment ?? process.env
  const isConfigured = options.path !== undefined || options.context !== undefined || environment.KUBECONFIG
  return !isConfigured && isInCluster(options) ? inClusterConfig(options) : loadKubeconfig(options)
}
