// SPDX-License-Identifier: Apache-2.0

import type { AppsControllerRevision, AppsDaemonSet, AppsDeployment, AppsReplicaSet, AppsStatefulSet, AutoscalingHorizontalPodAutoscaler, AutoscalingV2HorizontalPodAutoscaler, BatchCronJob, BatchJob } from '../../schema/types.generated.ts'
import { type BuiltInKind, kind } from '../built-in.ts'
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
  kind<AppsDeployment>({
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
  }),
  kind<AppsReplicaSet>({
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
        String(object.status?.replicas ?? 0),
    },
  }),
  kind<AppsStatefulSet>({
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
  }),
  kind<AppsDaemonSet>({
    type: 'apps/v1.DaemonSet',
    group: 'apps',
    plural: 'daemonsets',
    namespaced: true,
    shortNames: ['ds'],
    categories: all,
    defaults: defaultDaemonSet,
    strategy: daemonSetStrategy,
    columns: daemonSetColumns,
  }),
  kind<AppsControllerRevision>({
    type: 'apps/v1.ControllerRevision',
    group: 'apps',
    plural: 'controllerrevisions',
    namespaced: true,
    strategy: revisionStrategy,
    columns: controllerRevisionColumns,
  }),
  kind<BatchJob>({
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
        String(object.status?.succeeded ?? 0),
    },
  }),
  kind<BatchCronJob>({
    type: 'batch/v1.CronJob',
    group: 'batch',
    plural: 'cronjobs',
    namespaced: true,
    shortNames: ['cj'],
    categories: all,
    defaults: defaultCronJob,
    strategy: cronJobStrategy,
    columns: cronJobColumns,
  }),
  kind<AutoscalingV2HorizontalPodAutoscaler>({
    type: 'autoscaling/v2.HorizontalPodAutoscaler',
    group: 'autoscaling',
    plural: 'horizontalpodautoscalers',
    namespaced: true,
    shortNames: ['hpa'],
    categories: all,
    defaults: defaultAutoscaler,
    strategy: autoscalerStrategy,
    columns: autoscalerColumns,
  }),
  kind<AutoscalingHorizontalPodAutoscaler, AutoscalingV2HorizontalPodAutoscaler>({
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
  }),
]
