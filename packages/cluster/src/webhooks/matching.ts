// SPDX-License-Identifier: Apache-2.0

import type { Resource } from '../registry/resource.ts'
import { selectorMatches } from '../registry/validation/workload.ts'
import type { AdmissionregistrationRuleWithOperations, LabelSelector } from '../schema/types.generated.ts'
import type { AdmissionAttributes } from '../server/admission.ts'
import type { ServerContext } from '../server/context.ts'
import { apiError } from '../server/status.ts'
import type { Hook } from './hooks.ts'

/**
 * Returns the version in which the webhook receives the request: the requested one, or an equivalent one with
 * matchPolicy Equivalent. Undefined if the webhook does not match.
 */
export function matchHook(
  hook: Hook,
  attributes: AdmissionAttributes,
  context: ServerContext,
): Resource | undefined {
  if (isExempt(attributes.resource)) return undefined
  const seenAs = matchRules(hook, attributes, context)
  if (!seenAs || !matchesObject(hook.objectSelector, attributes)) return undefined
  return matchesNamespace(hook.namespaceSelector, attributes, context) ? seenAs : undefined
}

/** A webhook for webhook configurations could lock out all users, including its author. */
function isExempt({ group, plural }: Resource): boolean {
  return (
    group === 'admissionregistration.k8s.io' &&
    (plural === 'mutatingwebhookconfigurations' || plural === 'validatingwebhookconfigurations')
  )
}

function matchRules(
  hook: Hook,
  attributes: AdmissionAttributes,
  context: ServerContext,
): Resource | undefined {
  const rules = hook.rules ?? []
  const { resource } = attributes
  if (rules.some(rule => matchesRule(rule, attributes, resource))) return resource
  if (hook.matchPolicy !== 'Equivalent') return undefined
  for (const other of context.registry.all()) {
    if (other.storage !== resource.storage || other === resource) continue
    if (rules.some(rule => matchesRule(rule, attributes, other))) return other
  }
  return undefined
}

function matchesRule(
  rule: AdmissionregistrationRuleWithOperations,
  { operation, subresource }: AdmissionAttributes,
  { group, version, plural, namespaced }: Resource,
): boolean {
  return (
    has(rule.operations, operation) &&
    has(rule.apiGroups, group) &&
    has(rule.apiVersions, version) &&
    (rule.resources ?? []).some(pattern => matchesResource(pattern, plural, subresource)) &&
    (!rule.scope || rule.scope === '*' || rule.scope === (namespaced ? 'Namespaced' : 'Cluster'))
  )
}

function matchesResource(pattern: string, plural: string, subresource: string): boolean {
  const [resource, sub = ''] = pattern.split('/', 2)
  return (resource === '*' || resource === plural) && (sub === '*' || sub === subresource)
}

function has(values: readonly string[] | undefined, value: string): boolean {
  return values?.some(each => each === '*' || each === value) ?? false
}

function matchesObject(selector: LabelSelector | undefined, attributes: AdmissionAttributes): boolean {
  if (!selector || isEmpty(selector)) return true
  const { object, oldObject } = attributes
  return [object, oldObject].some(each => each && selectorMatches(selector, each.metadata.labels ?? {}))
}

function matchesNamespace(
  selector: LabelSelector | undefined,
  { resource, namespace, object, oldObject }: AdmissionAttributes,
  context: ServerContext,
): boolean {
  if (!selector || isEmpty(selector)) return true
  const isNamespace = resource.group === '' && resource.plural === 'namespaces'
  // A namespaceSelector does not apply to cluster-scoped objects.
  if (!namespace && !isNamespace) return true
  if (isNamespace) return selectorMatches(selector, (object ?? oldObject)?.metadata.labels ?? {})
  const home = context.store.get('namespaces', namespace)
  if (!home) throw apiError.notFound({ group: '', plural: 'namespaces' }, namespace)
  return selectorMatches(selector, home.metadata.labels ?? {})
}

function isEmpty({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0
}
