// SPDX-License-Identifier: Apache-2.0

// Options that several commands share, and their parsers.
import { type KindDescriptor, kinds } from '@grove/api/constants'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { CommandError } from '../command-error.ts'

/** Sets the exit code of the process. */
export type Exit = (code: number) => void

/** The output format. The first one is the default. */
export function output(...forms: [string, ...string[]]): Option {
  return new Option('-o, --output <format>', 'output format').choices(forms).default(forms[0])
}

/** Options of commands that connect to a cluster and use namespaced objects. */
export function live(command: Command): Command {
  return connected(
    command.option('-n, --namespace <namespace>', 'namespace (default: that of the kubeconfig)'),
  )
}

/** Options of commands that connect to a cluster. */
export function connected(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig (default: as in kubectl, else that of a running `grove up`)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--local', 'use the cluster of a running `grove up` and ignore the kubeconfig')
}

/** Parses NAME and TYPE/NAME. Users of kubectl write both. */
export function nameOf(...types: readonly KindDescriptor[]): (text: string) => string {
  const known = new Set(
    types.flatMap(({ resource, singular, shortName, group }) =>
      [resource, singular, shortName].flatMap(type => [type, `${type}.${group}`]),
    ),
  )
  return text => {
    const [, type, name] = /^([^/]*)\/(.*)$/.exec(text) ?? []
    if (type === undefined) return text
    if (name && known.has(type.toLowerCase())) return name
    const expected = types.map(({ shortName }) => `${shortName}/NAME`).join(' or ')
    throw new InvalidArgumentError(`Expected NAME or ${expected}.`)
  }
}

export const nameOfSet = nameOf(kinds.podCliqueSet)

export function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new CommandError(`${option} must be a whole number, not ${JSON.stringify(text)}`)
  return Number(text)
}

export function portNumber(option: string, text: string): number {
  const port = wholeNumber(option, text)
  if (port > 65_535) throw new CommandError(`${option} must be at most 65535, not ${port}`)
  return port
}
