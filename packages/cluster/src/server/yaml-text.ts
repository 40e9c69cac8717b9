// SPDX-License-Identifier: Apache-2.0

import { MAX_JSON_DEPTH, nestedDeeperThan } from '@grove/apimachinery'
import { type ParseOptions, parse, type SchemaOptions } from 'yaml'

/** The text is not YAML that this server supports. The message is one line. */
class YamlTextError extends Error {}

export function readYamlText(text: string, options: ParseOptions & SchemaOptions = {}): unknown {
  let value: unknown
  try {
    value = parse(text, options)
  } catch (error) {
    const [message = ''] = (error as Error).message.split('\n')
    // The parser is recursive and reports a stack overflow as a syntax error.
    if (message.includes('call stack')) throw tooDeep()
    throw new YamlTextError(message)
  }
  if (nestedDeeperThan(value, MAX_JSON_DEPTH)) throw tooDeep()
  return value
}

function tooDeep(): YamlTextError {
  return new YamlTextError(`exceeded max depth of ${MAX_JSON_DEPTH}`)
}
