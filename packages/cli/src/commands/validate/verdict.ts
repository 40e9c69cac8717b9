// SPDX-License-Identifier: Apache-2.0

// Prints verdicts for people: one line each, followed by the errors with their lines in the file.
import { kinds, type PodCliqueSet } from '@grove/api'
import { valueAt } from '../../manifests/field-path.ts'
import type { ManifestDocument } from '../../manifests/manifest.ts'
import type { TemplateObject } from './claim-hints.ts'
import type { CheckedDocument } from './document-kind.ts'
import { type Finding, findingsOf } from './findings.ts'
import { hintsFor } from './hints.ts'

/** Limit for readability. `-o json` contains all errors. */
const shownErrors = 50

export function verdictLines(checkedDocuments: readonly CheckedDocument[]): string[] {
  const claimTemplates = checkedDocuments
    .filter(({ kind }) => kind === 'ResourceClaimTemplate')
    .map(templateOf)
  const rejected = checkedDocuments.filter(({ response }) => response?.allowed === false).length
  const accepted = checkedDocuments.filter(({ response }) => response?.allowed).length
  const skipped = checkedDocuments.length - rejected - accepted
  return [
    ...checkedDocuments.flatMap(checked => linesOf(checked, claimTemplates)),
    [
      `${accepted} accepted`,
      ...(rejected ? [`${rejected} rejected`] : []),
      ...(skipped ? [`${skipped} not checked`] : []),
    ].join(', '),
  ]
}

function linesOf(checked: CheckedDocument, claimTemplates: readonly TemplateObject[]): string[] {
  const { document, kind, name, response, note } = checked
  const subject = [kind, name].filter(part => part).join(' ') || 'document'
  const place = `${document.source}:${document.line}`
  if (!response) return [`- ${subject}  ${note ?? ''}`]
  const warnings = response.warnings.map(warning => `    warning: ${withLine(document, warning)}`)
  if (response.allowed) return [`✓ ${subject}`, ...warnings, ...hintLines(checked, claimTemplates)]
  return [`✗ ${subject}  (${place})`, ...errorLines(checked), ...warnings]
}

/** Only for sets, whose shape admission has validated. */
function hintLines(
  { document, kind, response }: CheckedDocument,
  claimTemplates: readonly TemplateObject[],
): string[] {
  if (kind !== kinds.podCliqueSet.kind || !response?.object) return []
  return hintsFor(response.object as PodCliqueSet, claimTemplates).map(({ field, text }) => {
    const at = document.locate(field)
    return `    hint: ${field}: ${text}${at ? `  (line ${at.line})` : ''}`
  })
}

/** Unchecked: the file may contain any JSON. */
function templateOf({ object }: CheckedDocument): TemplateObject {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    metadata: {
      name: text(valueAt(object, 'metadata.name')),
      namespace: text(valueAt(object, 'metadata.namespace')),
    },
  }
}

/** The mistakes of a rejected document, each with its line. */
export function errorLines({ document, kind, object, oldObject, response }: CheckedDocument): string[] {
  const findings = response ? findingsOf(response, { kind, object, oldObject }) : []
  if (findings.length === 0) return [`    ${withLine(document, response?.message ?? '')}`]
  const lines = findings.slice(0, shownErrors).flatMap(finding => findingLines(document, finding))
  const hidden = findings.length - shownErrors
  return hidden > 0 ? [...lines, `    … and ${hidden} more`] : lines
}

function findingLines(document: ManifestDocument, { text, at, first, advice }: Finding): string[] {
  const line = document.locate(at)?.line
  const firstLine = first === undefined ? undefined : document.locate(first)?.line
  const places = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(firstLine === undefined ? [] : [`first at line ${firstLine}`]),
  ]
  return [
    `    ${text}${places.length > 0 ? `  (${places.join(', ')})` : ''}`,
    ...(advice === undefined ? [] : [`      ${advice}`]),
  ]
}

/** A message that starts with a field path gets the line of the field. */
function withLine(document: ManifestDocument, sentence: string): string {
  const field = /^(?:unknown field ")?([\w.[\]-]+)(?:"$|: )/.exec(sentence)?.[1]
  const at = field === undefined ? undefined : document.locate(field)
  return at ? `${sentence}  (line ${at.line})` : sentence
}
