// SPDX-License-Identifier: Apache-2.0

import type { BuiltInKind } from '../built-in.ts'
import {
  defaultAutoscaler,
  defaultCronJob,
  defaultDaemonSet,
  defaultDeployment,
  defaultJob,
  defaultReplicaSet,
  defaultStatefulSet,
} from '../defaults/workloads.ts'
import {
  autoscalerStrategy,
  cronJobStrategy,
  daemonSetStrategy,
  deploymentStrategy,
  firstAutoscalerStrategy,
  jobStrategy,
  replicaSetStrategy,
  revisionStrategy,
  statefulSetStrategy,
} from '../strategies/workloads.ts'
import {
  autoscalerColumns,
  controllerRevisionColumns,
  cronJobColumns,
  daemonSetColumns,
  deploymentColumns,
  jobColumns,
  replicaSetColumns,
  statefulSetColumns,
} from '../tables/workloads.ts'
import { defaultFirstAutoscaler, fromSecond, toSecond } from './first-autoscaler.ts'

const scale = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: ['spec', 'selector'],
}
const all = ['all']

export const workloadKinds: readonly BuiltInKind[] = [
  {
    type: 'apps/v1.Deployment',
    group: 'apps',
    plural: 'deployments',
    namespaced: true,
    shortNames: ['deploy'],
    categories: all,
    scale,
    defaults: defaultDeployment,
    strategy: deploymentStrategy,
    columns: deploymentColumns,
  },
  {
    type: 'apps/v1.ReplicaSet',
    group: 'apps',
    plural: 'replicasets',
    namespaced: true,
    shortNames: ['rs'],
    categories: all,
    scale,
    defaults: defaultReplicaSet,
    strategy: replicaSetStrategy,
    columns: replicaSetColumns,
    selectableFields: {
      'status.replicas': object =>
        String((object.status as { replicas?: number } | undefined)?.replicas ?? 0),
    },
  },
  {
    type: 'apps/v1.StatefulSet',
    group: 'apps',
    plural: 'statefulsets',
    namespaced: true,
    shortNames: ['sts'],
    categories: all,
    scale,
    defaults: defaultStatefulSet,
    strategy: statefulSetStrategy,
    columns: statefulSetColumns,
  },
  {
    type: 'apps/v1.DaemonSet',
    group: 'apps',
    plural: 'daemonsets',
    namespaced: true,
    shortNames: ['ds'],
    categories: all,
    defaults: defaultDaemonSet,
    strategy: daemonSetStrategy,
    columns: daemonSetColumns,
  },
  {
    type: 'apps/v1.ControllerRevision',
    group: 'apps',
    plural: 'controllerrevisions',
    namespaced: true,
    strategy: revisionStrategy,
    columns: controllerRevisionColumns,
  },
  {
    type: 'batch/v1.Job',
    group: 'batch',
    plural: 'jobs',
    namespaced: true,
    categories: all,
    defaults: defaultJob,
    strategy: jobStrategy,
    columns: jobColumns,
    selectableFields: {
      'status.successful': object =>
        String((object.status as { succeeded?: number } | undefined)?.succeeded ?? 0),
    },
  },
  {
    type: 'batch/v1.CronJob',
    group: 'batch',
    plural: 'cronjobs',
    namespaced: true,
    shortNames: ['cj'],
    categories: all,
    defaults: defaultCronJob,
    strategy: cronJobStrategy,
    columns: cronJobColumns,
  },
  {
    type: 'autoscaling/v2.HorizontalPodAutoscaler',
    group: 'autoscaling',
    plural: 'horizontalpodautoscalers',
    namespaced: true,
    shortNames: ['hpa'],
    categories: all,
    defaults: defaultAutoscaler,
    strategy: autoscalerStrategy,
    columns: autoscalerColumns,
  },
  {
    type: 'autoscaling/v1.HorizontalPodAutoscaler',
    group: 'autoscaling',
    plural: 'horizontalpodautoscalers',
    namespaced: true,
    shortNames: ['hpa'],
    categories: all,
    conversion: { toStorage: toSecond, fromStorage: fromSecond },
    defaults: defaultFirstAutoscaler,
    strategy: firstAutoscalerStrategy,
    columns: autoscalerColumns.map(column => ({
      ...column,
      cell: (object, now) => column.cell(toSecond(object), now),
    })),
  },
]
