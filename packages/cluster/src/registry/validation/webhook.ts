// SPDX-License-Identifier: Apache-2.0

import {
  compileCondition,
  dns1035Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  qualifiedName,
} from '@grove/apimachinery'
import type {
  AdmissionregistrationMutatingWebhook,
  AdmissionregistrationMutatingWebhookConfiguration,
  AdmissionregistrationWebhookClientConfig,
} from '../../schema/types.generated.ts'
import { conditionVariables } from '../../webhooks/match-conditions.ts'
import { validateLabelSelector } from './label-selector.ts'
import { oneOf } from './values.ts'
import { validateWebhookRule } from './webhook-rule.ts'

const reviewVersions = ['v1', 'v1beta1']
const maximumConditions = 64

/** Validates both kinds of webhook configuration. Validating webhooks have no reinvocation policy. */
export function validateWebhooks({
  webhooks = [],
}: AdmissionregistrationMutatingWebhookConfiguration): FieldError[] {
  const names = new Set<string | undefined>()
  return webhooks.flatMap((hook, index) => {
    const errors = validateWebhook(hook, `webhooks[${index}]`)
    if (names.has(hook.name)) errors.push(fieldError.duplicate(`webhooks[${index}].name`, hook.name))
    names.add(hook.name)
    return errors
  })
}

function validateWebhook(hook: AdmissionregistrationMutatingWebhook, field: string): FieldError[] {
  return [
    ...validateName(hook.name ?? '', `${field}.name`),
    ...(hook.rules ?? []).flatMap((rule, index) => validateWebhookRule(rule, `${field}.rules[${index}]`)),
    ...oneOf(hook.failurePolicy, ['Fail', 'Ignore'], `${field}.failurePolicy`),
    ...oneOf(hook.matchPolicy, ['Equivalent', 'Exact'], `${field}.matchPolicy`),
    ...validateSideEffects(hook.sideEffects, `${field}.sideEffects`),
    ...validateTimeout(hook.timeoutSeconds, `${field}.timeoutSeconds`),
    ...validateLabelSelector(hook.namespaceSelector, `${field}.namespaceSelector`),
    ...validateLabelSelector(hook.objectSelector, `${field}.objectSelector`),
    ...validateClient(hook.clientConfig ?? {}, `${field}.clientConfig`),
    ...oneOf(hook.reinvocationPolicy, ['IfNeeded', 'Never'], `${field}.reinvocationPolicy`),
    ...validateVersions(hook.admissionReviewVersions ?? [], `${field}.admissionReviewVersions`),
    ...validateConditions(hook, `${field}.matchConditions`),
  ]
}

function validateName(name: string, field: string): FieldError[] {
  if (name === '') return [fieldError.required(field)]
  const problems = dns1123Subdomain(name)
  if (problems.length > 0) return problems.map(problem => fieldError.invalid(field, name, problem))
  return name.split('.').length < 3
    ? [fieldError.invalid(field, name, 'should be a domain with at least three segments separated by dots')]
    : []
}

function validateSideEffects(value: string | null | undefined, field: string): FieldError[] {
  return value === undefined || value === null
    ? [fieldError.required(field, 'must specify one of None, NoneOnDryRun')]
    : oneOf(value, ['None', 'NoneOnDryRun'], field)
}

function validateTimeout(seconds: number | undefined, field: string): FieldError[] {
  return seconds !== undefined && (seconds < 1 || seconds > 30)
    ? [fieldError.invalid(field, seconds, 'the timeout value must be between 1 and 30 seconds')]
    : []
}

function validateVersions(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0)
    return [fieldError.required(field, `must specify one of ${reviewVersions.join(', ')}`)]
  const errors = versions.flatMap((version, index) => {
    const at = `${field}[${index}]`
    if (versions.indexOf(version) < index) return [fieldError.invalid(at, version, 'duplicate version')]
    return dns1035Label(version).map(problem => fieldError.invalid(at, version, problem))
  })
  if (!versions.some(version => reviewVersions.includes(version)))
    errors.push(
      fieldError.invalid(field, versions, `must include at least one of ${reviewVersions.join(', ')}`),
    )
  return errors
}

function validateClient(
  { url, service }: AdmissionregistrationWebhookClientConfig,
  field: string,
): FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [fieldError.required(field, 'exactly one of url or service is required')]
  if (url !== undefined) return validateUrl(url, `${field}.url`)
  const { name, namespace, port = 443, path } = service!
  return [
    ...(name ? [] : [fieldError.required(`${field}.service.name`)]),
    ...(namespace ? [] : [fieldError.required(`${field}.service.namespace`)]),
    ...(port < 1 || port > 65535
      ? [
          fieldError.invalid(
            `${field}.service.port`,
            port,
            'port is not valid: must be between 1 and 65535, inclusive',
          ),
        ]
      : []),
    ...(path === undefined ? [] : validatePath(path, `${field}.service.path`)),
  ]
}

const urlForm = 'desired format: https://host[/path]'

function validateUrl(text: string, field: string): FieldError[] {
  const [, scheme = '', , authority = '', query, fragment] =
    /^(?:([^:/?#]+):)?(\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/.exec(text) ?? []
  const [host = '', user] = authority.split('@').reverse()
  const errors: FieldError[] = []
  if (scheme !== 'https')
    errors.push(fieldError.invalid(field, scheme, `'https' is the only allowed URL scheme; ${urlForm}`))
  if (host === '') errors.push(fieldError.invalid(field, host, `host must be specified; ${urlForm}`))
  if (user !== undefined)
    errors.push(fieldError.invalid(field, user, 'user information is not permitted in the URL'))
  if (fragment) errors.push(fieldError.invalid(field, fragment, 'fragments are not permitted in the URL'))
  if (query) errors.push(fieldError.invalid(field, query, 'query parameters are not permitted in the URL'))
  return errors
}

function validatePath(path: string, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (!path.startsWith('/')) errors.push(fieldError.invalid(field, path, "must start with a '/'"))
  const segments = path.slice(1).replace(/\/$/, '').split('/')
  if (path !== '/')
    for (const [index, segment] of segments.entries()) {
      const problems =
        segment === '' ? [' may not be empty'] : dns1123Subdomain(segment).map(why => `: ${why}`)
      for (const why of problems) errors.push(fieldError.invalid(field, path, `segment[${index}]${why}`))
    }
  return errors
}

function validateConditions(
  { matchConditions = [] }: AdmissionregistrationMutatingWebhook,
  field: string,
): FieldError[] {
  if (matchConditions.length > maximumConditions)
    return [fieldError.tooMany(field, matchConditions.length, maximumConditions)]
  const names = new Set<string>()
  return matchConditions.flatMap(({ name = '', expression = '' }, index) => {
    const at = `${field}[${index}]`
    const errors: FieldError[] = []
    const compiled = compileCondition(expression, conditionVariables)
    if (expression.trim() === '') errors.push(fieldError.required(`${at}.expression`))
    else if (!compiled.ok) errors.push(fieldError.invalid(`${at}.expression`, expression, compiled.error))
    if (name === '') errors.push(fieldError.required(`${at}.name`))
    else errors.push(...qualifiedName(name).map(problem => fieldError.invalid(`${at}.name`, name, problem)))
    if (name !== '' && names.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name))
    names.add(name)
    return errors
  })
}
