// SPDX-License-Identifier: Apache-2.0

import { MAX_JSON_DEPTH, nestedDeeperThan } from '@grove/apimachinery'
import { type ParseOptions, parse, type SchemaOptions } from 'yaml'

/** The text is no YAML that we can handle; the message is one line. */
class YamlTextError extends Error {}

export function readYamlText(text: string, options: ParseOptions & SchemaOptions = {}): unknown {
  let value: unknown
  try {
    value = parse(text, options)
  } catch (error) {
    const [message = ''] = (error as Error).message.split('\n')
    // The parser calls itself for what is nested, and reports the end of the stack like a mistake of the text.
    if (message.includes('call stack')) throw tooDeep()
    throw new YamlTextError(message)
  }
  if (nestedDeeperThan(value, MAX_JSON_DEPTH)) throw tooDeep()
  return value
}

function tooDeep(): YamlTextError {
  return new YamlTextError(`exceeded max depth of ${MAX_JSON_DEPTH}`)
}
