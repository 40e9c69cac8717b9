// SPDX-License-Identifier: Apache-2.0

import { dns1123Subdomain, equalJson, type FieldError, fieldError } from '@grove/apimachinery'
import type {
  Affinity,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  Pod,
  PodSpec,
  Toleration,
} from '../../schema/types.generated.ts'
import { validatePodSpec } from './pod.ts'
import { between, ipAddress, obeys } from './values.ts'

const immutableText =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

/**
 * Only a few fields of a running pod are mutable. A pod with scheduling gates may also restrict its node
 * selection.
 */
export function validatePodUpdate(object: Pod, oldObject: Pod): FieldError[] {
  const spec = object.spec ?? {}
  const old = oldObject.spec ?? {}
  for (const part of ['containers', 'initContainers'] as const)
    if ((spec[part] ?? []).length !== (old[part] ?? []).length)
      return [
        ...validatePodSpec(spec, 'spec'),
        fieldError.forbidden(`spec.${part}`, 'pod updates may not add or remove containers'),
      ]
  const errors = validatePodSpec(spec, 'spec')
  // A spec that is already invalid is not compared with the old one.
  if ((spec.containers ?? []).some(({ image }) => !image)) return errors
  errors.push(...validateDeadlineUpdate(spec, old), ...validateGateUpdate(spec, old))
  const allowed = structuredClone(old)
  for (const part of ['containers', 'initContainers'] as const) {
    const now = spec[part] ?? []
    for (const [index, container] of (allowed[part] ?? []).entries())
      container.image = now[index]?.image ?? container.image
  }
  allowed.activeDeadlineSeconds = spec.activeDeadlineSeconds
  if (spec.activeDeadlineSeconds === undefined) delete allowed.activeDeadlineSeconds
  copyField(allowed, spec, 'tolerations')
  copyField(allowed, spec, 'schedulingGates')
  if ((old.schedulingGates ?? []).length > 0) {
    errors.push(...validateSelectorUpdate(spec, old), ...validateAffinityUpdate(spec, old))
    copyField(allowed, spec, 'nodeSelector')
    if (isOtherNodeAffinity(spec.affinity, old.affinity)) copyField(allowed, spec, 'affinity')
  }
  if (!keepsTolerations(spec, old))
    errors.push(
      fieldError.forbidden(
        'spec.tolerations',
        'existing toleration can not be modified except its tolerationSeconds',
      ),
    )
  if (!equalJson(allowed, spec)) errors.push(fieldError.forbidden('spec', immutableText))
  return errors
}

function copyField<K extends keyof PodSpec>(to: PodSpec, from: PodSpec, field: K): void {
  if (from[field] === undefined) delete to[field]
  else to[field] = from[field]
}

/** Reports whether the node affinity differs and the rest of the affinity is the same, absent or empty. */
function isOtherNodeAffinity(now: Affinity = {}, before: Affinity = {}): boolean {
  const { nodeAffinity, ...rest } = now
  const { nodeAffinity: nodeAffinityBefore, ...restBefore } = before
  return !equalJson(nodeAffinity, nodeAffinityBefore) && equalJson(rest, restBefore)
}

const termsField =
  'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms'

/** A gated pod may restrict its existing terms. A pod without terms may add some. */
function validateAffinityUpdate({ affinity: now }: PodSpec, { affinity: before }: PodSpec): FieldError[] {
  const old = termsOf(before)
  const terms = termsOf(now)
  if (old.length === 0) return []
  if (terms.length !== old.length)
    return [
      fieldError.invalid(
        termsField,
        terms.length ? terms.map(shownTerm) : null,
        'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      ),
    ]
  return terms.flatMap((term, index) =>
    isNarrower(term, old[index]!)
      ? []
      : [
          fieldError.invalid(
            `${termsField}[${index}]`,
            shownTerm(term),
            'only additions are allowed (no mutations or deletions)',
          ),
        ],
  )
}

function termsOf(affinity: Affinity | undefined): readonly NodeSelectorTerm[] {
  return affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
}

function isNarrower(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  return (['matchExpressions', 'matchFields'] as const).every(part =>
    (old[part] ?? []).every((requirement, index) => equalJson(requirement, term[part]?.[index])),
  )
}

/** Uses Go's field order, because the error message contains the value. */
function shownTerm({ matchExpressions, matchFields }: NodeSelectorTerm): object {
  const shown = (requirements: readonly NodeSelectorRequirement[] | undefined) =>
    requirements?.map(({ key, operator, values }) => ({
      Key: key,
      Operator: operator,
      Values: values ?? null,
    })) ?? null
  return { MatchExpressions: shown(matchExpressions), MatchFields: shown(matchFields) }
}

/** A gated pod may add node selector entries, but not remove them. */
function validateSelectorUpdate(
  { nodeSelector: now }: PodSpec,
  { nodeSelector: before = {} }: PodSpec,
): FieldError[] {
  return Object.entries(before).every(([key, value]) => now?.[key] === value)
    ? []
    : [
        fieldError.invalid(
          'spec.nodeSelector',
          now ?? null,
          'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ),
      ]
}

function keepsTolerations(spec: PodSpec, old: PodSpec): boolean {
  const essence = ({ tolerationSeconds: _, ...rest }: Toleration) => rest
  const now = (spec.tolerations ?? []).map(essence)
  return (old.tolerations ?? []).every(toleration => now.some(other => equalJson(other, essence(toleration))))
}

/** A deadline may be set once and then only be shortened. */
function validateDeadlineUpdate(spec: PodSpec, old: PodSpec): FieldError[] {
  const field = 'spec.activeDeadlineSeconds'
  const [now, before] = [spec.activeDeadlineSeconds, old.activeDeadlineSeconds]
  if (before === undefined || now === before) return []
  if (now === undefined)
    return [fieldError.invalid(field, null, 'must not update from a positive integer to nil value')]
  if (now < 0) return between([0, 2147483647], now, field)
  return now > before ? [fieldError.invalid(field, now, 'must be less than or equal to previous value')] : []
}

function validateGateUpdate(spec: PodSpec, old: PodSpec): FieldError[] {
  const known = new Set((old.schedulingGates ?? []).map(({ name }) => name))
  return (spec.schedulingGates ?? []).flatMap(({ name = '' }, index) =>
    known.has(name)
      ? []
      : [
          fieldError.forbidden(
            `spec.schedulingGates[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  )
}

export function validatePodStatusUpdate(object: Pod, oldObject: Pod): FieldError[] {
  const { nominatedNodeName, podIPs = [], qosClass } = object.status ?? {}
  const old = oldObject.status ?? {}
  return [
    ...(nominatedNodeName ? obeys(nominatedNodeName, dns1123Subdomain, 'status.nominatedNodeName') : []),
    ...(old.qosClass && qosClass !== old.qosClass ? [fieldError.immutable('status.qosClass', qosClass)] : []),
    ...podIPs.flatMap(({ ip = '' }, index) => obeys(ip, ipAddress, `status.podIPs[${index}]`)),
  ]
}
