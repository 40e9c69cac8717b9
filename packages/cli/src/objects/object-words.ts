// SPDX-License-Identifier: Apache-2.0

// The words that name objects on the command line: `pods`, `pod a b`, `pcs/llm pod/x`, `pods,services`.
import type { DiscoveredResource } from '@grove/kube'
import { CommandError } from '../command-error.ts'
import type { ServedKinds } from './served-kinds.ts'

export interface NamedObjects {
  readonly resource: DiscoveredResource
  /** Undefined: all of them. */
  readonly names: readonly string[] | undefined
}

export function objectsNamed(words: readonly string[], kinds: ServedKinds): NamedObjects[] {
  const [first, ...names] = words
  if (first === undefined)
    throw new CommandError('say what: a resource such as pods, or TYPE/NAME, or -f FILE')
  if (words.some(word => word.includes('/'))) return words.map(word => oneObject(word, kinds))
  const resources = first
    .split(',')
    .filter(word => word !== '')
    .flatMap(word => kinds.named(word))
  return resources.map(resource => ({ resource, names: names.length > 0 ? names : undefined }))
}

function oneObject(word: string, kinds: ServedKinds): NamedObjects {
  const [type = '', name = '', ...more] = word.split('/')
  if (type === '' || name === '' || more.length > 0)
    throw new CommandError(
      `${JSON.stringify(word)} is not of the form TYPE/NAME; use either TYPE NAME or TYPE/NAME`,
    )
  const [resource, ...others] = kinds.named(type)
  if (!resource || others.length > 0)
    throw new CommandError(`${JSON.stringify(type)} names several types; a name needs one`)
  return { resource, names: [name] }
}
