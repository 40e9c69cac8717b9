// SPDX-License-Identifier: Apache-2.0

// Judgements for people: one line each, then what is wrong, with the line of the file where it stands.
import { kinds, type PodCliqueSet } from '@grove/api'
import { valueAt } from '../../field-path.ts'
import type { ManifestDocument } from '../../manifest.ts'
import type { TemplateObject } from './claim-hints.ts'
import type { Judgement } from './document-kind.ts'
import { type Finding, findingsOf } from './findings.ts'
import { hintsFor } from './hints.ts'

/** A list of a thousand errors helps nobody; -o json has them all. */
const shownErrors = 50

export function verdictLines(judgements: readonly Judgement[]): string[] {
  const claimTemplates = judgements.filter(({ kind }) => kind === 'ResourceClaimTemplate').map(templateOf)
  const refused = judgements.filter(({ answer }) => answer?.allowed === false).length
  const accepted = judgements.filter(({ answer }) => answer?.allowed).length
  const skipped = judgements.length - refused - accepted
  return [
    ...judgements.flatMap(judgement => linesOf(judgement, claimTemplates)),
    [
      `${accepted} accepted`,
      ...(refused ? [`${refused} refused`] : []),
      ...(skipped ? [`${skipped} not checked`] : []),
    ].join(', '),
  ]
}

function linesOf(judgement: Judgement, claimTemplates: readonly TemplateObject[]): string[] {
  const { document, kind, name, answer, note } = judgement
  const subject = [kind, name].filter(part => part).join(' ') || 'document'
  const place = `${document.source}:${document.line}`
  if (!answer) return [`- ${subject}  ${note ?? ''}`]
  const warnings = answer.warnings.map(warning => `    warning: ${withLine(document, warning)}`)
  if (answer.allowed) return [`✓ ${subject}`, ...warnings, ...hintLines(judgement, claimTemplates)]
  return [`✗ ${subject}  (${place})`, ...errorLines(judgement), ...warnings]
}

/** Only for sets: admission has seen to their shape. */
function hintLines(
  { document, kind, answer }: Judgement,
  claimTemplates: readonly TemplateObject[],
): string[] {
  if (kind !== kinds.podCliqueSet.kind || !answer?.object) return []
  return hintsFor(answer.object as PodCliqueSet, claimTemplates).map(({ field, text }) => {
    const at = document.locate(field)
    return `    hint: ${field}: ${text}${at ? `  (line ${at.line})` : ''}`
  })
}

/** Not checked: the file may hold anything. */
function templateOf({ object }: Judgement): TemplateObject {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    metadata: {
      name: text(valueAt(object, 'metadata.name')),
      namespace: text(valueAt(object, 'metadata.namespace')),
    },
  }
}

function errorLines({ document, kind, object, oldObject, answer }: Judgement): string[] {
  const findings = answer ? findingsOf(answer, { kind, object, oldObject }) : []
  if (findings.length === 0) return [`    ${withLine(document, answer?.message ?? '')}`]
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

/** A sentence that is about one field says where that is. */
function withLine(document: ManifestDocument, sentence: string): string {
  const field = /^(?:unknown field ")?([\w.[\]-]+)(?:"$|: )/.exec(sentence)?.[1]
  const at = field === undefined ? undefined : document.locate(field)
  return at ? `${sentence}  (line ${at.line})` : sentence
}
