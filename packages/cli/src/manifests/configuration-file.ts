// SPDX-License-Identifier: Apache-2.0

import { defaultConfiguration, loadConfiguration, type OperatorConfiguration } from '@grove/api'
import { type FieldError, renderFieldError } from '@grove/apimachinery'
import { CommandError } from '../command-error.ts'
import { printNote } from '../terminal/print.ts'
import { type ManifestDocument, readManifests } from './manifest.ts'

/** Reads the operator configuration, or returns the default without a file. Warnings go to standard error. */
export async function readConfigurationFile(path: string | undefined): Promise<OperatorConfiguration> {
  if (path === undefined) return defaultConfiguration()
  const documents = await readManifests([path])
  if (documents.length !== 1)
    throw new CommandError(`${path} must contain exactly one document, not ${documents.length}`)
  const document = documents[0]!
  const result = loadConfiguration(document.value)
  switch (result.outcome) {
    case 'undecodable':
      throw new CommandError(`${path}: ${result.message}`)
    case 'invalid':
      throw invalid(path, document, result.errors)
    case 'loaded':
      for (const warning of result.warnings) printNote(`${path}: ${warning}`)
      return result.configuration
  }
}

/** A single error is the message. Several errors have a line each. */
function invalid(path: string, document: ManifestDocument, errors: readonly FieldError[]): CommandError {
  const lines = errors.map(error => {
    const line = document.locate(error.field)?.line
    return `${path}:${line === undefined ? '' : `${line}:`} ${renderFieldError(error)}`
  })
  if (lines.length === 1) return new CommandError(lines[0]!)
  for (const line of lines) printNote(line)
  return new CommandError(`${path} has ${lines.length} errors`)
}
