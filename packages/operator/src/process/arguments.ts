// SPDX-License-Identifier: Apache-2.0

import { parseArgs } from 'node:util'

export type Launch =
  | { readonly task: 'run'; readonly config: string }
  | { readonly task: 'version' }
  | { readonly task: 'help' }
  | { readonly task: 'rejected'; readonly message: string }

export const usage = `Usage: grove-operator --config FILE | --version

  --config FILE   operator configuration to run with
  -v, --version   print the version and exit
  -h, --help      print this text and exit

The cluster is the one that KUBECONFIG names, else the one it runs in, else that of ~/.kube/config.
`

export function parseLaunch(args: readonly string[]): Launch {
  let values: { config?: string; version?: boolean; help?: boolean }
  try {
    values = parseArgs({
      args: [...args],
      options: {
        config: { type: 'string' },
        version: { type: 'boolean', short: 'v' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    return rejected(`error parsing cli arguments: ${(error as Error).message}`)
  }
  if (values.help) return { task: 'help' }
  const missing = 'missing required launch option:'
  if (values.version && values.config !== undefined)
    return rejected(`${missing} both version and operator config file cannot be specified`)
  if (values.version) return { task: 'version' }
  if (!values.config) return rejected(`${missing} one of version or operator config file must be specified`)
  return { task: 'run', config: values.config }
}

function rejected(message: string): Launch {
  return { task: 'rejected', message }
}
