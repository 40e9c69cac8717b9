// SPDX-License-Identifier: Apache-2.0

// Markers in the Kubernetes sources that are on types and not on fields.

/** Structs that are atomic wherever they are used. */
export const atomicStructs: ReadonlySet<string> = new Set([
  'admissionregistration/v1.MatchResources',
  'admissionregistration/v1.NamedRuleWithOperations',
  'admissionregistration/v1.ParamKind',
  'admissionregistration/v1.ParamRef',
  'admissionregistration/v1.Variable',
  'autoscaling/v1.CrossVersionObjectReference',
  'core/v1.ConfigMapKeySelector',
  'core/v1.EndpointAddress',
  'core/v1.EndpointPort',
  'core/v1.EvictionResponder',
  'core/v1.FileKeySelector',
  'core/v1.LocalObjectReference',
  'core/v1.NodeSelector',
  'core/v1.NodeSelectorTerm',
  'core/v1.ObjectFieldSelector',
  'core/v1.ObjectReference',
  'core/v1.ResourceFieldSelector',
  'core/v1.ScopeSelector',
  'core/v1.SecretKeySelector',
  'core/v1.SecretReference',
  'core/v1.TopologySelectorTerm',
  'core/v1.TypedLocalObjectReference',
  'discovery/v1.EndpointPort',
  'meta/v1.LabelSelector',
  'meta/v1.OwnerReference',
  'networking/v1.ServiceBackendPort',
  'rbac/v1.RoleRef',
  'rbac/v1.Subject',
])

/** Defaults of fields that are list keys. */
export const keyDefaults: ReadonlyMap<string, unknown> = new Map([
  ['core/v1.ContainerPort.protocol', 'TCP'],
  ['core/v1.LocalObjectReference.name', ''],
  ['core/v1.ServicePort.protocol', 'TCP'],
])
