// SPDX-License-Identifier: Apache-2.0

import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  formatDuration,
  isBlank,
  isJsonObject,
  QuantityError,
  quote,
  readQuantity,
} from '@grove/apimachinery'
import { scheduler } from '../schedulers.ts'
import { leaseTimeMistakes } from './lease-times.ts'
import {
  certProvisionModes,
  logFormats,
  logLevels,
  type OperatorConfiguration,
  pullPolicies,
  totalLossPolicies,
} from './operator-configuration.ts'
import { supportedSchedulers } from './schedulers.ts'

/** Returns all errors of a configuration, in a fixed order. */
export function validateConfiguration(configuration: OperatorConfiguration): FieldError[] {
  return [
    ...oneOf('logLevel', configuration.logLevel, logLevels),
    ...oneOf('logFormat', configuration.logFormat, logFormats),
    ...validateScheduler(configuration),
    ...validateLeaderElection(configuration),
    ...validateClientConnection(configuration),
    ...validateControllers(configuration),
    ...validateCertificates(configuration),
    ...validateServiceName(configuration),
    ...validatePorts(configuration),
    ...oneOf('gangTermination.onTotalLoss', configuration.gangTermination.onTotalLoss, totalLossPolicies),
    ...validateHistory(configuration),
    ...validateLimits(configuration),
    ...validateClusterDomain(configuration),
    ...validateStartupWaiter(configuration),
  ]
}

function validateHistory({ revisionHistory: { limit } }: OperatorConfiguration): FieldError[] {
  return limit >= 0 ? [] : [fieldError.invalid('revisionHistory.limit', limit, 'must not be negative')]
}

function validateLimits({ limits }: OperatorConfiguration): FieldError[] {
  return Object.entries(limits)
    .filter(([, limit]) => limit < 1)
    .map(([key, limit]) => fieldError.invalid(`limits.${key}`, limit, 'must be greater than 0'))
}

function oneOf(field: string, value: string, supported: readonly string[]): FieldError[] {
  if (value === '' || supported.includes(value)) return []
  return [fieldError.unsupported(field, value, supported)]
}

function validateScheduler({
  scheduler: { profiles, defaultProfileName },
}: OperatorConfiguration): FieldError[] {
  const field = 'scheduler.profiles'
  const errors: FieldError[] = []
  if (profiles.length === 0) {
    errors.push(fieldError.required(field, 'at least one scheduler profile is required'))
  }
  const valid = new Set<string>()
  profiles.forEach(({ name }, index) => {
    const at = `${field}[${index}].name`
    if (isBlank(name)) errors.push(fieldError.required(at, 'scheduler profile name is required'))
    else if (!supportedSchedulers.includes(name)) {
      errors.push(fieldError.unsupported(at, name, supportedSchedulers))
    } else if (valid.has(name)) errors.push(fieldError.duplicate(at, name))
    else valid.add(name)
  })
  if (!valid.has(scheduler.default)) {
    errors.push(fieldError.required(field, `the "${scheduler.default}" scheduler profile is required`))
  }
  const defaultField = 'scheduler.defaultProfileName'
  if (isBlank(defaultProfileName)) {
    errors.push(fieldError.required(defaultField, 'default scheduler profile name is required'))
  } else if (!valid.has(defaultProfileName)) {
    errors.push(
      fieldError.invalid(
        defaultField,
        defaultProfileName,
        'default profile must be one of the configured profiles',
      ),
    )
  }
  return errors
}

function validateLeaderElection({ leaderElection: election }: OperatorConfiguration): FieldError[] {
  if (!election.enabled) return []
  const durations = ['leaseDuration', 'renewDeadline', 'retryPeriod'] as const
  const errors = durations
    .filter(name => election[name] <= 0)
    .map(name =>
      fieldError.invalid(`leaderElection.${name}`, durationText(election[name]), 'must be greater than 0'),
    )
  if (election.leaseDuration <= election.renewDeadline) {
    errors.push(
      fieldError.invalid(
        'leaderElection.leaseDuration',
        durationText(election.renewDeadline),
        'LeaseDuration must be greater than RenewDeadline',
      ),
    )
  }
  for (const name of ['resourceLock', 'resourceName'] as const) {
    if (election[name] === '') {
      errors.push(fieldError.required(`leaderElection.${name}`, `${name} is required`))
    }
  }
  // Without a mistake above: the elector would end the process at its start with an error that names no key.
  if (errors.length === 0)
    for (const { key, problem } of leaseTimeMistakes(election))
      errors.push(fieldError.invalid(`leaderElection.${key}`, durationText(election[key]), problem))
  return [...errors, ...oneOf('leaderElection.resourceLock', election.resourceLock, ['leases'])]
}

function durationText(milliseconds: number): string {
  return formatDuration(BigInt(Math.round(milliseconds * 1e6)))
}

/** The path is not the key of the file. It is kept because users match errors with this path. */
function validateClientConnection({ runtimeClientConnection }: OperatorConfiguration): FieldError[] {
  const { burst } = runtimeClientConnection
  return burst < 0 ? [fieldError.invalid('clientConnection.burst', burst, 'must be non-negative')] : []
}

function validateControllers({ controllers }: OperatorConfiguration): FieldError[] {
  const names = ['podCliqueSet', 'podCliqueScalingGroup', 'podClique', 'podGang'] as const
  return names
    .filter(name => controllers[name].concurrentSyncs <= 0)
    .map(name =>
      fieldError.invalid(
        `controllers.${name}.concurrentSyncs`,
        controllers[name].concurrentSyncs,
        'must be greater than 0',
      ),
    )
}

function validateCertificates({ server: { webhooks } }: OperatorConfiguration): FieldError[] {
  const mode = webhooks.certProvisionMode
  if (certProvisionModes.includes(mode)) return []
  return [
    fieldError.invalid(
      'server.webhooks.certProvisionMode',
      mode,
      `unsupported cert provision mode: ${quote(mode)}`,
    ),
  ]
}

function validateServiceName({ server: { webhooks } }: OperatorConfiguration): FieldError[] {
  return dns1123Label(webhooks.serviceName).map(problem =>
    fieldError.invalid('server.webhooks.serviceName', webhooks.serviceName, problem),
  )
}

function validatePorts({ server, debugging }: OperatorConfiguration): FieldError[] {
  const ports: [string, number][] = [
    ['server.webhooks.port', server.webhooks.port],
    ['server.healthProbes.port', server.healthProbes.port],
    ['server.metrics.port', server.metrics.port],
  ]
  if (debugging) ports.push(['debugging.pprofBindPort', debugging.pprofBindPort])
  return ports
    .filter(([, port]) => port < 1 || port > 65535)
    .map(([field, port]) => fieldError.invalid(field, port, 'must be between 1 and 65535, inclusive'))
}

function validateClusterDomain({ network: { clusterDomain } }: OperatorConfiguration): FieldError[] {
  return dns1123Subdomain(clusterDomain).map(problem =>
    fieldError.invalid('network.clusterDomain', clusterDomain, problem),
  )
}

function validateStartupWaiter({ startupWaiter }: OperatorConfiguration): FieldError[] {
  const { imagePullPolicy, resources = {} } = startupWaiter
  const amounts = (['requests', 'limits'] as const).flatMap(list => {
    const field = `startupWaiter.resources.${list}`
    const given: unknown = resources[list] ?? {}
    return isJsonObject(given)
      ? Object.entries(given).flatMap(([name, amount]) => validateAmount(`${field}.${name}`, amount))
      : [fieldError.invalid(field, given, 'must be an object')]
  })
  return [
    ...oneOf('startupWaiter.imagePullPolicy', imagePullPolicy, pullPolicies.filter(Boolean)),
    ...amounts,
  ]
}

function validateAmount(field: string, amount: unknown): FieldError[] {
  const read = readQuantity(amount)
  if (read instanceof QuantityError) return [fieldError.invalid(field, amount, read.message)]
  return read.unscaled < 0n ? [fieldError.invalid(field, amount, 'must be greater than or equal to 0')] : []
}
