// SPDX-License-Identifier: Apache-2.0

import { enabledSchedulers, type OperatorConfiguration, scheduler } from '@grove/api'
import type { Client } from '@grove/kube'
import { servedResources } from '../caches/optional-kinds.ts'
import { nativeGangKinds } from '../caches/resources.ts'
import { exitCode, LaunchError } from './exit-code.ts'

/** An API server that does not know the field `schedulingGroup` creates pods without it, and the gang would be lost. */
export async function checkNativeGangs(client: Client, configuration: OperatorConfiguration): Promise<void> {
  if (!enabledSchedulers(configuration).has(scheduler.kubernetes)) return
  const isServed = await servedResources(client)
  const missing = nativeGangKinds.filter(kind => !isServed(kind))
  if (missing.length === 0) return
  const names = missing.map(({ group, version, kind }) => `${kind} of ${group}/${version}`)
  throw new LaunchError(
    exitCode.schedulerBackend,
    `failed to initialize ${scheduler.kubernetes} backend: the cluster does not serve ${names.join(', ')}; Kubernetes 1.37 with the feature gates GenericWorkload, TopologyAwareWorkloadScheduling and CompositePodGroup is needed, and scheduling.k8s.io/v1beta1 and scheduling.k8s.io/v1alpha3 in --runtime-config of the API server`,
  )
}
