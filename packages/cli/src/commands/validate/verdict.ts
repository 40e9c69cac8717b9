// SPDX-License-Identifier: Apache-2.0

// Judgements for people: one line each, then what is wrong, with the line of the file where it stands.
import { kinds, type PodCliqueSet } from '@grove/api'
import type { ManifestDocument } from '../../manifest.ts'
import type { Judgement } from './document-kind.ts'
import { hintsFor } from './hints.ts'

/** A list of a thousand errors helps nobody; -o json has them all. */
const shownErrors = 50

export function verdictLines(judgements: readonly Judgement[]): string[] {
  const refused = judgements.filter(({ answer }) => answer?.allowed === false).length
  const accepted = judgements.filter(({ answer }) => answer?.allowed).length
  const skipped = judgements.length - refused - accepted
  return [
    ...judgements.flatMap(linesOf),
    [
      `${accepted} accepted`,
      ...(refused ? [`${refused} refused`] : []),
      ...(skipped ? [`${skipped} not checked`] : []),
    ].join(', '),
  ]
}

function linesOf(judgement: Judgement): string[] {
  const { document, kind, name, answer, note } = judgement
  const subject = [kind, name].filter(part => part).join(' ') || 'document'
  const place = `${document.source}:${document.line}`
  if (!answer) return [`- ${subject}  ${note ?? ''}`]
  const warnings = answer.warnings.map(warning => `    warning: ${withLine(document, warning)}`)
  if (answer.allowed) return [`✓ ${subject}`, ...warnings, ...hintLines(judgement)]
  return [`✗ ${subject}  (${place})`, ...errorLines(judgement), ...warnings]
}

/** Only for sets: admission has seen to their shape. */
function hintLines({ document, kind, answer }: Judgement): string[] {
  if (kind !== kinds.podCliqueSet.kind || !answer?.object) return []
  return hintsFor(answer.object as PodCliqueSet).map(hint => `    hint: ${withLine(document, hint)}`)
}

function errorLines({ document, answer }: Judgement): string[] {
  const causes = answer?.causes ?? []
  if (causes.length === 0) return [`    ${withLine(document, answer?.message ?? '')}`]
  const lines = causes.slice(0, shownErrors).map(({ field, message }) => {
    const at = document.locate(field.replace(/^\./, ''))
    return `    ${field}: ${message}${at ? `  (line ${at.line})` : ''}`
  })
  return causes.length > shownErrors ? [...lines, `    … and ${causes.length - shownErrors} more`] : lines
}

/** A sentence that is about one field says where that is. */
function withLine(document: ManifestDocument, sentence: string): string {
  const field = /^(?:unknown field ")?([\w.[\]-]+)(?:"$|: )/.exec(sentence)?.[1]
  const at = field === undefined ? undefined : document.locate(field)
  return at ? `${sentence}  (line ${at.line})` : sentence
}
