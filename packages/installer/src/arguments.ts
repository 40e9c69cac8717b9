// SPDX-License-Identifier: Apache-2.0

import { parseArgs } from 'node:util'

const defaultTimeoutSeconds = 60

export type Launch =
  | { readonly task: 'install'; readonly force: boolean; readonly timeoutMs: number }
  | { readonly task: 'print' }
  | { readonly task: 'version' }
  | { readonly task: 'help' }
  | { readonly task: 'rejected'; readonly message: string }

export const usage = `Usage: grove-install-crds [--force] [--timeout SECONDS] | --print | --version

Creates or updates Grove's CustomResourceDefinitions by server-side apply and waits until they are served.

  --force             install also where objects can lose fields
  --timeout SECONDS   how long to wait until the CRDs are served (${defaultTimeoutSeconds})
  --print             print the CRDs as JSON documents and exit, for kubectl apply --server-side -f -
  -v, --version       print the version and exit
  -h, --help          print this text and exit

The cluster is the one that KUBECONFIG names, else the one it runs in, else that of ~/.kube/config.

Exit codes: 0 installed, 1 a request failed, 2 unknown argument or no cluster configured,
3 rejected because objects can lose fields, 4 a CRD was not served in time.
`

export function parseLaunch(args: readonly string[]): Launch {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        force: { type: 'boolean' },
        timeout: { type: 'string' },
        print: { type: 'boolean' },
        version: { type: 'boolean', short: 'v' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help) return { task: 'help' }
    if (values.version) return { task: 'version' }
    if (values.print) return { task: 'print' }
    const seconds = Number(values.timeout ?? defaultTimeoutSeconds)
    if (!(seconds > 0))
      return { task: 'rejected', message: `--timeout is a number of seconds above 0, not ${values.timeout}` }
    return { task: 'install', force: values.force ?? false, timeoutMs: seconds * 1000 }
  } catch (error) {
    return { task: 'rejected', message: (error as Error).message }
  }
}
