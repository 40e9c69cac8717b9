// SPDX-License-Identifier: Apache-2.0

import { formatAge, formatElapsed } from '@grove/apimachinery'
import type { KubeObject } from '../../object.ts'
import type {
  AppsControllerRevision,
  AppsDaemonSet,
  AppsDeployment,
  AppsReplicaSet,
  AppsStatefulSet,
  AutoscalingV2HorizontalPodAutoscaler,
  AutoscalingV2MetricSpec,
  BatchCronJob,
  BatchJob,
  LabelSelector,
  PodTemplateSpec,
} from '../../schema/types.generated.ts'
import type { Column } from '../resource.ts'
import { ageColumn, column, formatLabels, integerColumn, nameColumn, noneIfEmpty, wide } from './column.ts'
import { formatSelector } from './selector.ts'

type Templated = { spec?: { template?: PodTemplateSpec; selector?: LabelSelector } }

const containers = (object: KubeObject) =>
  (object as unknown as Templated).spec?.template?.spec?.containers ?? []
const containerNames = wide(
  column(
    'Containers',
    object =>
      containers(object)
        .map(({ name }) => name)
        .join(','),
    'Names of each container in the template.',
  ),
)
const containerImages = wide(
  column(
    'Images',
    object =>
      containers(object)
        .map(({ image }) => image)
        .join(','),
    'Images referenced by each container in the template.',
  ),
)
const selector = wide(
  column('Selector', object => formatSelector((object as unknown as Templated).spec?.selector)),
)

const deployment = (object: KubeObject) => object as unknown as AppsDeployment

export const deploymentColumns: readonly Column[] = [
  nameColumn,
  column(
    'Ready',
    object => `${deployment(object).status?.readyReplicas ?? 0}/${deployment(object).spec?.replicas ?? 0}`,
    'Number of the pod with ready state',
  ),
  integerColumn('Up-to-date', object => deployment(object).status?.updatedReplicas),
  integerColumn('Available', object => deployment(object).status?.availableReplicas),
  ageColumn,
  containerNames,
  containerImages,
  selector,
]

const replicaSet = (object: KubeObject) => object as unknown as AppsReplicaSet

export const replicaSetColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', object => replicaSet(object).spec?.replicas),
  integerColumn('Current', object => replicaSet(object).status?.replicas),
  integerColumn('Ready', object => replicaSet(object).status?.readyReplicas),
  ageColumn,
  containerNames,
  containerImages,
  selector,
]

const statefulSet = (object: KubeObject) => object as unknown as AppsStatefulSet

export const statefulSetColumns: readonly Column[] = [
  nameColumn,
  column(
    'Ready',
    object => `${statefulSet(object).status?.readyReplicas ?? 0}/${statefulSet(object).spec?.replicas ?? 0}`,
  ),
  ageColumn,
  containerNames,
  containerImages,
]

const daemonSet = (object: KubeObject) => (object as unknown as AppsDaemonSet).status ?? {}

export const daemonSetColumns: readonly Column[] = [
  nameColumn,
  integerColumn('Desired', object => daemonSet(object).desiredNumberScheduled),
  integerColumn('Current', object => daemonSet(object).currentNumberScheduled),
  integerColumn('Ready', object => daemonSet(object).numberReady),
  integerColumn('Up-to-date', object => daemonSet(object).updatedNumberScheduled),
  integerColumn('Available', object => daemonSet(object).numberAvailable),
  column('Node Selector', object =>
    formatLabels((object as unknown as AppsDaemonSet).spec?.template?.spec?.nodeSelector),
  ),
  ageColumn,
  containerNames,
  containerImages,
  selector,
]

const revision = (object: KubeObject) => object as unknown as AppsControllerRevision

export const controllerRevisionColumns: readonly Column[] = [
  nameColumn,
  column('Controller', object => {
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller)
    if (!owner) return '<none>'
    const group = owner.apiVersion?.includes('/') ? `.${owner.apiVersion.split('/')[0]}` : ''
    return `${owner.kind?.toLowerCase()}${group}/${owner.name}`
  }),
  column('Revision', object => revision(object).revision ?? 0),
  ageColumn,
]

const job = (object: KubeObject) => object as unknown as BatchJob

export const jobColumns: readonly Column[] = [
  nameColumn,
  column('Status', jobStatus, 'Status of the job.'),
  column('Completions', jobCompletions),
  column('Duration', jobDuration, 'Time required to complete the job.'),
  ageColumn,
  containerNames,
  containerImages,
  selector,
]

function jobStatus(object: KubeObject): string {
  const has = (wanted: string) =>
    job(object).status?.conditions?.some(({ type, status }) => type === wanted && status === 'True')
  if (has('Complete')) return 'Complete'
  if (has('Failed')) return 'Failed'
  if (object.metadata.deletionTimestamp) return 'Terminating'
  if (has('Suspended')) return 'Suspended'
  if (has('FailureTarget')) return 'FailureTarget'
  return has('SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running'
}

function jobCompletions(object: KubeObject): string {
  const { spec, status } = job(object)
  const succeeded = status?.succeeded ?? 0
  if (spec?.completions !== undefined) return `${succeeded}/${spec.completions}`
  const parallelism = spec?.parallelism ?? 0
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function jobDuration(object: KubeObject, now: number): string {
  const { startTime, completionTime } = job(object).status ?? {}
  if (!startTime) return ''
  return formatElapsed((completionTime ? Date.parse(completionTime) : now) - Date.parse(startTime))
}

const cronJob = (object: KubeObject) => object as unknown as BatchCronJob

export const cronJobColumns: readonly Column[] = [
  nameColumn,
  column('Schedule', object => cronJob(object).spec?.schedule),
  column('Timezone', object => noneIfEmpty(cronJob(object).spec?.timeZone)),
  {
    name: 'Suspend',
    type: 'boolean',
    description: '',
    cell: object => String(cronJob(object).spec?.suspend ?? false),
  },
  integerColumn('Active', object => cronJob(object).status?.active?.length),
  column('Last Schedule', (object, now) => {
    const last = cronJob(object).status?.lastScheduleTime
    return last ? formatAge(last, now) : '<none>'
  }),
  ageColumn,
]

const autoscaler = (object: KubeObject) => object as unknown as AutoscalingV2HorizontalPodAutoscaler

export const autoscalerColumns: readonly Column[] = [
  nameColumn,
  column('Reference', object => {
    const target = autoscaler(object).spec?.scaleTargetRef
    return `${target?.kind}/${target?.name}`
  }),
  column('Targets', autoscalerTargets),
  column('MinPods', object => String(autoscaler(object).spec?.minReplicas ?? '<unset>')),
  column('MaxPods', object => autoscaler(object).spec?.maxReplicas),
  column('Replicas', object => autoscaler(object).status?.currentReplicas ?? 0),
  ageColumn,
]

function autoscalerTargets(object: KubeObject): string {
  const { spec, status } = autoscaler(object)
  const metrics = spec?.metrics ?? []
  if (metrics.length === 0) return '<none>'
  const shown = metrics
    .slice(0, 2)
    .map((metric, index) =>
      describeMetric(metric, status?.currentMetrics?.[index] as AutoscalingV2MetricSpec | undefined),
    )
  const more = metrics.length > 2 ? ` + ${metrics.length - 2} more...` : ''
  return shown.join(', ') + more
}

function describeMetric(
  metric: AutoscalingV2MetricSpec,
  current: AutoscalingV2MetricSpec | undefined,
): string {
  const source =
    metric.resource ?? metric.containerResource ?? metric.pods ?? metric.object ?? metric.external
  const now = (current?.resource ??
    current?.containerResource ??
    current?.pods ??
    current?.object ??
    current?.external) as
    | { current?: { averageUtilization?: number; averageValue?: string; value?: string } }
    | undefined
  const name = metric.resource?.name ?? metric.containerResource?.name
  const label = name ? `${name}: ` : ''
  const target = source?.target
  if (target?.averageUtilization !== undefined)
    return `${label}${now?.current?.averageUtilization === undefined ? '<unknown>' : `${now.current.averageUtilization}%`}/${target.averageUtilization}%`
  if (target?.averageValue !== undefined)
    return `${label}${now?.current?.averageValue ?? '<unknown>'}/${target.averageValue}${name ? '' : metric.pods ? '' : ' (avg)'}`
  return `${label}${now?.current?.value ?? '<unknown>'}/${target?.value ?? '<auto>'}`
}
