// SPDX-License-Identifier: Apache-2.0

import { formatAge, formatElapsed } from '@grove/apimachinery'
import type { ObjectOf } from '../../object.ts'
import type {
  AppsControllerRevision,
  AppsDaemonSet,
  AppsDeployment,
  AppsReplicaSet,
  AppsStatefulSet,
  AutoscalingV2HorizontalPodAutoscaler,
  AutoscalingV2MetricSpec,
  AutoscalingV2MetricStatus,
  BatchCronJob,
  BatchJob,
  LabelSelector,
  PodTemplateSpec,
} from '../../schema/types.generated.ts'
import type { Column } from '../resource.ts'
import { ageColumn, column, formatLabels, integerColumn, nameColumn, noneIfEmpty, wide } from './column.ts'
import { formatSelector } from './selector.ts'

type Templated = { spec?: { template?: PodTemplateSpec; selector?: LabelSelector } }

const containers = (object: Templated) => object.spec?.template?.spec?.containers ?? []
const containerNames = wide(
  column<Templated>(
    'Containers',
    object =>
      containers(object)
        .map(({ name }) => name)
        .join(','),
    'Names of each container in the template.',
  ),
)
const containerImages = wide(
  column<Templated>(
    'Images',
    object =>
      containers(object)
        .map(({ image }) => image)
        .join(','),
    'Images referenced by each container in the template.',
  ),
)
const selector = wide(column<Templated>('Selector', object => formatSelector(object.spec?.selector)))

export const deploymentColumns: readonly Column<AppsDeployment>[] = [
  nameColumn,
  column(
    'Ready',
    object => `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`,
    'Number of the pod with ready state',
  ),
  integerColumn('Up-to-date', object => object.status?.updatedReplicas),
  integerColumn('Available', object => object.status?.availableReplicas),
  ageColumn,
  containerNames,
  containerImages,
  selector,
]

export const replicaSetColumns: readonly Column<AppsReplicaSet>[] = [
  nameColumn,
  integerColumn('Desired', object => object.spec?.replicas),
  integerColumn('Current', object => object.status?.replicas),
  integerColumn('Ready', object => object.status?.readyReplicas),
  ageColumn,
  containerNames,
  containerImages,
  selector,
]

export const statefulSetColumns: readonly Column<AppsStatefulSet>[] = [
  nameColumn,
  column('Ready', object => `${object.status?.readyReplicas ?? 0}/${object.spec?.replicas ?? 0}`),
  ageColumn,
  containerNames,
  containerImages,
]

const daemonSet = (object: AppsDaemonSet) => object.status ?? {}

export const daemonSetColumns: readonly Column<AppsDaemonSet>[] = [
  nameColumn,
  integerColumn('Desired', object => daemonSet(object).desiredNumberScheduled),
  integerColumn('Current', object => daemonSet(object).currentNumberScheduled),
  integerColumn('Ready', object => daemonSet(object).numberReady),
  integerColumn('Up-to-date', object => daemonSet(object).updatedNumberScheduled),
  integerColumn('Available', object => daemonSet(object).numberAvailable),
  column('Node Selector', object => formatLabels(object.spec?.template?.spec?.nodeSelector)),
  ageColumn,
  containerNames,
  containerImages,
  selector,
]

export const controllerRevisionColumns: readonly Column<AppsControllerRevision>[] = [
  nameColumn,
  column('Controller', object => {
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller)
    if (!owner) return '<none>'
    const group = owner.apiVersion?.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : ''
    return `${owner.kind?.toLowerCase()}${group}/${owner.name}`
  }),
  column('Revision', object => object.revision ?? 0),
  ageColumn,
]

export const jobColumns: readonly Column<BatchJob>[] = [
  nameColumn,
  column('Status', jobStatus, 'Status of the job.'),
  column('Completions', jobCompletions),
  column('Duration', jobDuration, 'Time required to complete the job.'),
  ageColumn,
  containerNames,
  containerImages,
  selector,
]

function jobStatus(object: ObjectOf<BatchJob>): string {
  const has = (wanted: string) =>
    object.status?.conditions?.some(({ type, status }) => type === wanted && status === 'True')
  if (has('Complete')) return 'Complete'
  if (has('Failed')) return 'Failed'
  if (object.metadata.deletionTimestamp) return 'Terminating'
  if (has('Suspended')) return 'Suspended'
  if (has('FailureTarget')) return 'FailureTarget'
  return has('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running'
}

function jobCompletions({ spec, status }: BatchJob): string {
  const succeeded = status?.succeeded ?? 0
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`
  const parallelism = spec?.parallelism ?? 0
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration({ status }: BatchJob, now: number): string {
  const { startTime, completionTime } = status ?? {}
  if (!startTime) return ''
  return formatElapsed((completionTime ? Date.parse(completionTime) : now) - Date.parse(startTime))
}

export const cronJobColumns: readonly Column<BatchCronJob>[] = [
  nameColumn,
  column('Schedule', object => object.spec?.schedule),
  column('Timezone', object => noneIfEmpty(object.spec?.timeZone)),
  {
    name: 'Suspend',
    type: 'boolean',
    description: '',
    // Go prints the word that the column of kubectl shows, not the JSON value.
    cell: object => (object.spec?.suspend ? 'True' : 'False'),
  },
  integerColumn('Active', object => object.status?.active?.length),
  column('Last Schedule', (object, now) => {
    const last = object.status?.lastScheduleTime
    return last ? formatAge(last, now) : '<none>'
  }),
  ageColumn,
]

export const autoscalerColumns: readonly Column<AutoscalingV2HorizontalPodAutoscaler>[] = [
  nameColumn,
  column('Reference', object => {
    const target = object.spec?.scaleTargetRef
    return `${target?.kind}/${target?.name}`
  }),
  column('Targets', autoscalerTargets),
  column('MinPods', object => String(object.spec?.minReplicas ?? '<unset>')),
  column('MaxPods', object => object.spec?.maxReplicas),
  column('Replicas', object => object.status?.currentReplicas ?? 0),
  ageColumn,
]

function autoscalerTargets({ spec, status }: AutoscalingV2HorizontalPodAutoscaler): string {
  const metrics = spec?.metrics ?? []
  if (metrics.length === 0) return '<none>'
  const shown = metrics
    .slice(0, 2)
    .map((metric, index) => describeMetric(metric, status?.currentMetrics?.[index]))
  const more = metrics.length > 2 ? ` + ${metrics.length - 2} more...` : ''
  return shown.join(', ') + more
}

function describeMetric(
  metric: AutoscalingV2MetricSpec,
  current: AutoscalingV2MetricStatus | undefined,
): string {
  const source =
    metric.resource ?? metric.containerResource ?? metric.pods ?? metric.object ?? metric.external
  const now =
    current?.resource ?? current?.containerResource ?? current?.pods ?? current?.object ?? current?.external
  const name = metric.resource?.name ?? metric.containerResource?.name
  const label = name ? `${name}: ` : ''
  const target = source?.target
  if (target?.averageUtilization !== undefined)
    return `${label}${now?.current?.averageUtilization === undefined ? '<unknown>' : `${now.current.averageUtilization}%`}/${target.averageUtilization}%`
  if (target?.averageValue !== undefined)
    return `${label}${now?.current?.averageValue ?? '<unknown>'}/${target.averageValue}${name ? '' : metric.pods ? '' : ' (avg)'}`
  return `${label}${now?.current?.value ?? '<unknown>'}/${target?.value ?? '<auto>'}`
}
