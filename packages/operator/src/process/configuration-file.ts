// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'
import { loadConfiguration, type OperatorConfiguration } from '@grove/api'
import { renderFieldErrors } from '@grove/apimachinery'
import { messageOf } from '@grove/kube'
import { parse } from 'yaml'
import { exitCode, LaunchError } from './exit-code.ts'

const cannotLoad = 'cannot load "grove-operator" operator config'

export interface LoadedConfiguration {
  readonly configuration: OperatorConfiguration
  readonly warnings: readonly string[]
}

export function readConfigurationFile(path: string): LoadedConfiguration {
  const result = loadConfiguration(parsed(read(path)))
  switch (result.outcome) {
    case 'undecodable':
      throw new LaunchError(
        exitCode.configuration,
        `${cannotLoad}: decoding operator config: ${result.message}`,
      )
    case 'invalid':
      throw invalid(
        renderFieldErrors(result.errors),
        result.errors.map(error => error.field),
      )
    case 'loaded':
      return result
  }
}

/** Rejects an invalid certificate mode early, with the exit code for set-up failures that scripts expect. */
function invalid(text: string, fields: readonly string[]): LaunchError {
  const onlyMode = fields.every(field => field === 'server.webhooks.certProvisionMode')
  return onlyMode
    ? new LaunchError(exitCode.setUp, text.replace(/^.*?(unsupported cert provision mode)/, '$1'))
    : new LaunchError(exitCode.configuration, `invalid "grove-operator" operator config: ${text}`)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new LaunchError(exitCode.configuration, `${cannotLoad}: error reading file: ${messageOf(error)}`)
  }
}

function parsed(text: string): unknown {
  try {
    return parse(text, { version: '1.1', maxAliasCount: 100 })
  } catch (error) {
    throw new LaunchError(
      exitCode.configuration,
      `${cannotLoad}: decoding operator config: ${messageOf(error)}`,
    )
  }
}
