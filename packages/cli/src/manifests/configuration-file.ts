// SPDX-License-Identifier: Apache-2.0

import { defaultConfiguration, loadConfiguration, type OperatorConfiguration } from '@grove/api'
import { renderFieldErrors } from '@grove/apimachinery'
import { CommandError } from '../command-error.ts'
import { printNote } from '../terminal/print.ts'
import { readManifests } from './manifest.ts'

/** Reads the operator configuration, or returns the default without a file. Warnings go to standard error. */
export async function readConfigurationFile(path: string | undefined): Promise<OperatorConfiguration> {
  if (path === undefined) return defaultConfiguration()
  const documents = await readManifests([path])
  if (documents.length !== 1)
    throw new CommandError(`${path} must contain exactly one document, not ${documents.length}`)
  const result = loadConfiguration(documents[0]!.value)
  switch (result.outcome) {
    case 'undecodable':
      throw new CommandError(`${path}: ${result.message}`)
    case 'invalid':
      throw new CommandError(`${path}: ${renderFieldErrors(result.errors)}`)
    case 'loaded':
      for (const warning of result.warnings) printNote(`${path}: ${warning}`)
      return result.configuration
  }
}
