// SPDX-License-Identifier: Apache-2.0

// Options that several commands have, and how their values are read.
import { type Command, Option } from 'commander'
import { CommandError } from './command-error.ts'

/** How to print; the first form is the usual one. */
export function output(...forms: [string, ...string[]]): Option {
  return new Option('-o, --output <form>', 'how to print').choices(forms).default(forms[0])
}

/** Options of commands that talk to a cluster. */
export function live(command: Command): Command {
  return command
    .option('-n, --namespace <namespace>', 'namespace to look in (default: that of the kubeconfig)')
    .option(
      '--kubeconfig <file>',
      'kubeconfig to use (default: as kubectl, else that of a running `grove up`)',
    )
    .option('--context <name>', 'context of the kubeconfig to use')
    .option('--local', 'the cluster of a running `grove up`, whatever the kubeconfig says')
}

export function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new CommandError(`${option} must be a whole number, not ${JSON.stringify(text)}`)
  return Number(text)
}
