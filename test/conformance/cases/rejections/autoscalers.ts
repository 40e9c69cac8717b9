// SPDX-License-Identifier: Apache-2.0

import { type Rejections, rejected } from '../../rejections.ts'
import { chapter } from '../../suite.ts'

const autoscalers: Rejections = {
  'maxReplicas 0': [
    { maxReplicas: 0 },
    '[spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`, spec.maxReplicas: Required value]',
  ],
  'negative maxReplicas': [
    { maxReplicas: -1 },
    '[spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`, spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1]',
  ],
  'negative minReplicas': [
    { minReplicas: -1 },
    'spec.minReplicas: Invalid value: -1: must be greater than or equal to 0',
  ],
  'minReplicas above maxReplicas': [
    { minReplicas: 5 },
    'spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`',
  ],
  'minReplicas 0 with a resource metric only': [
    { minReplicas: 0 },
    'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
  ],
  'empty scaleTargetRef': [
    { scaleTargetRef: {} },
    '[spec.scaleTargetRef.kind: Required value, spec.scaleTargetRef.name: Required value, spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group]',
  ],
  'invalid kind and name of the target': [
    { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'a/b', name: 'x%' } },
    '[spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain \'/\', spec.scaleTargetRef.name: Invalid value: "x%": may not contain \'%\']',
  ],
  'invalid apiVersion of the target': [
    { scaleTargetRef: { apiVersion: 'a/b/c', kind: 'Deployment', name: 'd' } },
    'spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ],
  'target in the core group': [
    { scaleTargetRef: { apiVersion: 'v1', kind: 'Deployment', name: 'd' } },
    'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
  ],
  'metric without a type': [
    { metrics: [{}] },
    '[spec.metrics[0].type: Required value: must specify a metric source type, spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"]',
  ],
  'metric of an unknown type': [
    { metrics: [{ type: 'Foo' }] },
    'spec.metrics[0].type: Unsupported value: "Foo": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
  ],
  'metric without its source': [
    { metrics: [{ type: 'Resource' }] },
    'spec.metrics[0].resource: Required value: must populate information for the given metric source',
  ],
  'metric with the source of another type': [
    {
      metrics: [
        { type: 'Pods', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 3 } } },
      ],
    },
    'spec.metrics[0].pods: Required value: must populate information for the given metric source',
  ],
  'metric with two sources': [
    {
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 3 } },
          pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '2' } },
        },
      ],
    },
    'spec.metrics[0].pods: Forbidden: must populate the given metric source only',
  ],
  'empty resource metric': [
    { metrics: [{ type: 'Resource', resource: {} }] },
    '[spec.metrics[0].resource.name: Required value: must specify a resource name, spec.metrics[0].resource.target.type: Required value: must specify a metric target type, spec.metrics[0].resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue, spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization]',
  ],
  'empty container resource metric': [
    { metrics: [{ type: 'ContainerResource', containerResource: {} }] },
    '[spec.metrics[0].containerResource.name: Required value: must specify a resource name, spec.metrics[0].containerResource.container: Required value: must specify a container, spec.metrics[0].containerResource.target.type: Required value: must specify a metric target type, spec.metrics[0].containerResource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue, spec.metrics[0].containerResource.target.averageUtilization: Required value: must set either a target raw value or a target utilization]',
  ],
  'resource metric without averageUtilization': [
    { metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }] },
    'spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization',
  ],
  'averageUtilization 0': [
    {
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0 } },
        },
      ],
    },
    'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
  ],
  'averageUtilization and averageValue': [
    {
      metrics: [
        {
          type: 'Resource',
          resource: {
            name: 'cpu',
            target: { type: 'Utilization', averageUtilization: 50, averageValue: '1' },
          },
        },
      ],
    },
    'spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization',
  ],
  'averageValue 0': [
    {
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '0' } } },
      ],
    },
    'spec.metrics[0].resource.target.averageValue: Invalid value: "0": must be positive',
  ],
  'unknown target type': [
    {
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Wrong', averageUtilization: 3 } } },
      ],
    },
    'spec.metrics[0].resource.target.type: Invalid value: "Wrong": must be either Utilization, Value, or AverageValue',
  ],
  'empty pods metric': [
    { metrics: [{ type: 'Pods', pods: {} }] },
    '[spec.metrics[0].pods.metric.name: Required value: must specify a metric name, spec.metrics[0].pods.target.type: Required value: must specify a metric target type, spec.metrics[0].pods.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue, spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue]',
  ],
  'slash in a metric name': [
    {
      metrics: [
        {
          type: 'Pods',
          pods: { metric: { name: 'q/r' }, target: { type: 'AverageValue', averageValue: '1' } },
        },
      ],
    },
    'spec.metrics[0].pods.metric.name: Invalid value: "q/r": may not contain \'/\'',
  ],
  'pods metric with a value instead of an average': [
    { metrics: [{ type: 'Pods', pods: { metric: { name: 'q' }, target: { type: 'Value', value: '2' } } }] },
    'spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue',
  ],
  'empty object metric': [
    { metrics: [{ type: 'Object', object: {} }] },
    '[spec.metrics[0].object.describedObject.kind: Required value, spec.metrics[0].object.describedObject.name: Required value, spec.metrics[0].object.metric.name: Required value: must specify a metric name, spec.metrics[0].object.target.type: Required value: must specify a metric target type, spec.metrics[0].object.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue, spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue]',
  ],
  'object metric without a target value': [
    {
      metrics: [
        {
          type: 'Object',
          object: {
            describedObject: { kind: 'Service', name: 's' },
            metric: { name: 'm' },
            target: { type: 'Value' },
          },
        },
      ],
    },
    'spec.metrics[0].object.target.averageValue: Required value: must set either a target value or averageValue',
  ],
  'external metric without a target value': [
    { metrics: [{ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value' } } }] },
    'spec.metrics[0].external.target.averageValue: Required value: must set either a target value for metric or a per-pod target',
  ],
  'external metric with two target values': [
    {
      metrics: [
        {
          type: 'External',
          external: { metric: { name: 'm' }, target: { type: 'Value', value: '1', averageValue: '1' } },
        },
      ],
    },
    'spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target',
  ],
  'external metric with target value 0': [
    {
      metrics: [
        { type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value', value: '0' } } },
      ],
    },
    'spec.metrics[0].external.target.value: Invalid value: "0": must be positive',
  ],
  'negative stabilization window': [
    { behavior: { scaleUp: { stabilizationWindowSeconds: -1 } } },
    'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero',
  ],
  'stabilization window above an hour': [
    { behavior: { scaleUp: { stabilizationWindowSeconds: 3601 } } },
    'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
  ],
  'unknown selectPolicy': [
    { behavior: { scaleDown: { selectPolicy: 'Foo' } } },
    'spec.behavior.scaleDown.selectPolicy: Unsupported value: "Foo": supported values: "Disabled", "Max", "Min"',
  ],
  'empty scaling policy': [
    { behavior: { scaleDown: { policies: [{}] } } },
    '[spec.behavior.scaleDown.policies[0].type: Unsupported value: "": supported values: "Percent", "Pods", spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero, spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 0: must be greater than zero]',
  ],
  'invalid scaling policy': [
    { behavior: { scaleDown: { policies: [{ type: 'Foo', value: -1, periodSeconds: 1801 }] } } },
    '[spec.behavior.scaleDown.policies[0].type: Unsupported value: "Foo": supported values: "Percent", "Pods", spec.behavior.scaleDown.policies[0].value: Invalid value: -1: must be greater than zero, spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800]',
  ],
  'negative tolerance': [
    { behavior: { scaleUp: { tolerance: '-0.05' } } },
    'spec.behavior.scaleUp.tolerance: Invalid value: "-50m": must be greater than or equal to 0',
  ],
}

const right = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 }

export const rejectedAutoscalers = chapter('rejected autoscalers', {
  'invalid bounds, targets, metrics and behavior': rejected(
    {
      resource: 'autoscaling/v2/horizontalpodautoscalers',
      object: change => ({ metadata: { name: 'x' }, spec: { ...right, ...change } }),
    },
    autoscalers,
  ),
})
