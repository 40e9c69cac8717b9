// SPDX-License-Identifier: Apache-2.0

// Parses the arguments that name objects: `pods`, `pod a b`, `pcs/llm pod/x`, `pods,services`.
import type { DiscoveredResource } from '@grove/kube/client'
import { CommandError } from '../command-error.ts'
import type { ServedKinds } from './served-kinds.ts'

export interface NamedObjects {
  readonly resource: DiscoveredResource
  /** Undefined: all of them. */
  readonly names: readonly string[] | undefined
}

export function objectsNamed(args: readonly string[], kinds: ServedKinds): NamedObjects[] {
  const [first, ...names] = args
  if (first === undefined) throw new CommandError('specify a resource such as pods, or TYPE/NAME, or -f FILE')
  if (args.some(arg => arg.includes('/'))) return args.map(arg => oneObject(arg, kinds))
  const resources = first
    .split(',')
    .filter(arg => arg !== '')
    .flatMap(arg => kinds.named(arg))
  return resources.map(resource => ({ resource, names: names.length > 0 ? names : undefined }))
}

function oneObject(arg: string, kinds: ServedKinds): NamedObjects {
  const [type = '', name = '', ...more] = arg.split('/')
  if (type === '' || name === '' || more.length > 0)
    throw new CommandError(
      `${JSON.stringify(arg)} is not of the form TYPE/NAME; use either TYPE NAME or TYPE/NAME`,
    )
  const [resource, ...others] = kinds.named(type)
  if (!resource || others.length > 0)
    throw new CommandError(`${JSON.stringify(type)} names several types; a name requires one type`)
  return { resource, names: [name] }
}
