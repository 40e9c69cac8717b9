// SPDX-License-Identifier: Apache-2.0

import { type FieldError, isJsonObject, quote } from '@grove/apimachinery'
import {
  configurationApiVersion,
  configurationKind,
  type OperatorConfiguration,
} from './operator-configuration.ts'
import { readConfiguration } from './read.ts'
import { type Findings, Section } from './section.ts'
import { validateConfiguration } from './validate.ts'

export type ConfigurationResult =
  | {
      readonly outcome: 'loaded'
      readonly configuration: OperatorConfiguration
      readonly warnings: readonly string[]
    }
  /** Not a configuration, or values of a wrong type. */
  | { readonly outcome: 'undecodable'; readonly message: string }
  /** Readable, but invalid. */
  | {
      readonly outcome: 'invalid'
      readonly errors: readonly FieldError[]
      readonly warnings: readonly string[]
    }

/** Converts the parsed content of a configuration file into a complete configuration, or returns its errors. */
export function loadConfiguration(document: unknown): ConfigurationResult {
  if (!isJsonObject(document)) {
    return { outcome: 'undecodable', message: 'the configuration must be an object' }
  }
  const { apiVersion, kind, ...content } = document
  if (apiVersion !== configurationApiVersion || kind !== configurationKind) {
    return {
      outcome: 'undecodable',
      message: `apiVersion ${configurationApiVersion} and kind ${configurationKind} expected, not ${describe(apiVersion)} and ${describe(kind)}`,
    }
  }
  const findings: Findings = { errors: [], unknownKeys: [] }
  const configuration = readConfiguration(new Section(content, '', findings))
  if (findings.errors.length > 0) return { outcome: 'undecodable', message: findings.errors.join('; ') }
  const warnings = findings.unknownKeys.map(key => `unknown key ${key} is ignored`)
  const errors = validateConfiguration(configuration)
  return errors.length > 0
    ? { outcome: 'invalid', errors, warnings }
    : { outcome: 'loaded', configuration, warnings }
}

/** The configuration without a configuration file. */
export function defaultConfiguration(): OperatorConfiguration {
  return readConfiguration(new Section({}, '', { errors: [], unknownKeys: [] }))
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (typeof value !== 'string') return `a value of type ${Array.isArray(value) ? 'list' : typeof value}`
  return quote(value.length > 100 ? `${value.slice(0, 100)}…` : value)
}
