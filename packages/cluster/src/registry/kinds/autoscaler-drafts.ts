// SPDX-License-Identifier: Apache-2.0

// Autoscaler metrics in the format of v2beta1, which annotations of autoscaling/v1 still use.
import type { JsonObject } from '@grove/apimachinery'
import type {
  AutoscalingV2CrossVersionObjectReference,
  AutoscalingV2MetricIdentifier,
  AutoscalingV2MetricSpec,
  AutoscalingV2MetricStatus,
  AutoscalingV2MetricValueStatus,
  LabelSelector,
} from '../../schema/types.generated.ts'

type Amounts = AutoscalingV2MetricValueStatus

interface Draft {
  readonly name?: string
  readonly container?: string
  readonly metricName?: string
  readonly selector?: LabelSelector
  readonly metricSelector?: LabelSelector
  readonly target?: AutoscalingV2CrossVersionObjectReference
  readonly averageValue?: string
}

export function draftMetric(metric: AutoscalingV2MetricSpec): unknown {
  const { type, object, external, pods, resource, containerResource } = metric
  return {
    type,
    ...(object && { object: draftObject(object, object.target, 'target') }),
    ...(pods && {
      pods: {
        metricName: pods.metric?.name,
        targetAverageValue: pods.target?.averageValue,
        selector: pods.metric?.selector,
      },
    }),
    ...(resource && { resource: { name: resource.name, ...usage(resource.target, 'target') } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        ...usage(containerResource.target, 'target'),
        container: containerResource.container,
      },
    }),
    ...(external && {
      external: {
        ...draftName(external.metric),
        targetValue: external.target?.value,
        targetAverageValue: external.target?.averageValue,
      },
    }),
  }
}

export function draftStatus(metric: AutoscalingV2MetricStatus): unknown {
  const { type, object, external, pods, resource, containerResource } = metric
  return {
    type,
    ...(object && { object: draftObject(object, object.current, 'current') }),
    ...(pods && {
      pods: {
        metricName: pods.metric?.name,
        currentAverageValue: pods.current?.averageValue ?? '0',
        selector: pods.metric?.selector,
      },
    }),
    ...(resource && { resource: { name: resource.name, ...measured(resource.current) } }),
    ...(containerResource && {
      containerResource: {
        name: containerResource.name,
        ...measured(containerResource.current),
        container: containerResource.container,
      },
    }),
    ...(external && {
      external: {
        ...draftName(external.metric),
        currentValue: external.current?.value ?? '0',
        currentAverageValue: external.current?.averageValue,
      },
    }),
  }
}

export function metricOfDraft(draft: JsonObject): AutoscalingV2MetricSpec {
  const { amounts, ...rest } = sourceOf(draft, 'target')
  const target = { type: targetType(draft, amounts), ...amounts }
  const type = String(draft.type)
  return { type, [sourceName(type)]: { ...rest, target } }
}

export function statusOfDraft(draft: JsonObject): AutoscalingV2MetricStatus {
  const { amounts: current, ...rest } = sourceOf(draft, 'current')
  const type = String(draft.type)
  return { type, [sourceName(type)]: { ...rest, current } }
}

function draftObject(
  { describedObject, metric }: NonNullable<AutoscalingV2MetricStatus['object']>,
  amounts: Amounts = {},
  word: string,
): unknown {
  const { kind, name, apiVersion } = describedObject ?? {}
  return {
    target: { kind, name, apiVersion },
    metricName: metric?.name,
    [`${word}Value`]: amounts.value ?? '0',
    selector: metric?.selector,
    averageValue: amounts.averageValue,
  }
}

function draftName(metric: AutoscalingV2MetricIdentifier = {}): object {
  return { metricName: metric.name, metricSelector: metric.selector }
}

function usage(amounts: Amounts = {}, word: string): object {
  return {
    [`${word}AverageUtilization`]: amounts.averageUtilization,
    [`${word}AverageValue`]: amounts.averageValue,
  }
}

function measured(amounts: Amounts = {}): object {
  return usage({ ...amounts, averageValue: amounts.averageValue ?? '0' }, 'current')
}

function sourceName(type: string): string {
  return type.charAt(0).toLowerCase() + type.slice(1)
}

function sourceOf(draft: JsonObject, word: string): JsonObject & { readonly amounts: Amounts } {
  const type = String(draft.type)
  const source = (draft[sourceName(type)] ?? {}) as Draft & Record<string, never>
  const { name, container, metricName, selector, metricSelector, target } = source
  const isUsage = type === 'Resource' || type === 'ContainerResource'
  const value: string | undefined = source[`${word}Value`]
  const average = source.averageValue ?? source[`${word}AverageValue`]
  return {
    ...(isUsage
      ? { name, container }
      : { metric: { name: metricName, selector: selector ?? metricSelector } }),
    ...(type === 'Object' && { describedObject: target }),
    amounts: {
      // The format needs a value, so an average has the value 0 next to it.
      value: average !== undefined && value === '0' ? undefined : value,
      averageValue: average,
      averageUtilization: source[`${word}AverageUtilization`],
    },
  }
}

function targetType({ type }: JsonObject, { averageValue, averageUtilization }: Amounts): string {
  if (averageUtilization !== undefined) return 'Utilization'
  return averageValue !== undefined || type === 'Pods' ? 'AverageValue' : 'Value'
}
