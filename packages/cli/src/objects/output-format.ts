// SPDX-License-Identifier: Apache-2.0

// The output formats of kubectl that take a template.
import { readFileSync } from 'node:fs'
import { CommandError } from '../command-error.ts'
import { escapedText } from '../terminal/line.ts'
import { terminal } from '../terminal/terminal.ts'
import { parseColumns, parseColumnsFile } from './custom-columns.ts'
import { parseTemplate } from './json-path.ts'
import { evaluateTemplate, templateJson, templateText } from './json-path-values.ts'

/** Prints an object, or a List of objects, with the template of `-o jsonpath=…` and its variants. */
export type TemplatePrinter = (value: unknown) => void

/** The value of an output format such as `jsonpath={.metadata.name}`. */
function templateOf(output: string): { readonly form: string; readonly template: string } {
  const equals = output.indexOf('=')
  const [form, template] = equals < 0 ? [output, ''] : [output.slice(0, equals), output.slice(equals + 1)]
  if (template === '') throw new CommandError(`-o ${form} requires a template: -o ${form}=${examples[form]}`)
  return { form, template }
}

const examples: Readonly<Record<string, string>> = {
  jsonpath: '{.metadata.name}',
  'jsonpath-as-json': '{.metadata.name}',
  'jsonpath-file': 'FILE',
  'custom-columns': 'NAME:.metadata.name',
  'custom-columns-file': 'FILE',
}

export const isJsonPath = (output: string | undefined) => output?.startsWith('jsonpath') ?? false
export const isCustomColumns = (output: string | undefined) => output?.startsWith('custom-columns') ?? false

/** Parses the template before the first request, so that a mistake in it changes nothing. */
export function jsonPathPrinter(output: string): TemplatePrinter {
  const { form, template } = templateOf(output)
  const parts = parseTemplate(form === 'jsonpath-file' ? contentOf(template) : template)
  const format = form === 'jsonpath-as-json' ? templateJson : templateText
  return value => {
    const { stdout } = terminal()
    const text = format(evaluateTemplate(parts, value))
    // Scripts get the values unchanged. A terminal must not execute control characters of objects.
    stdout.write(stdout.isTTY ? escapedText(text) : text)
  }
}

export function customColumnsOf(output: string) {
  const { form, template } = templateOf(output)
  return form === 'custom-columns-file' ? parseColumnsFile(contentOf(template)) : parseColumns(template)
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}
