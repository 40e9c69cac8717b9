// SPDX-License-Identifier: Apache-2.0

// Parses the arguments of `npm run kubernetes --`.
import { parseArgs } from 'node:util'

export const help = `A real Kubernetes control plane with simulated nodes, on loopback.

Usage: npm run kubernetes -- <command>

Commands
  up [options]         Start it and keep it running until Ctrl-C
  kubectl <args…>      Run kubectl on the control plane that is up
  build                Build the binaries into the cache, if they are not there

Options of up
  --nodes <n>          Simulated nodes (default 3)
  --gpus <n>           nvidia.com/gpu of each node (default none)
  --kubeconfig <file>  Write the kubeconfig there too
  --native-gangs       Serve and schedule Workload, PodGroup and CompositePodGroup
  --gated              Pods become Ready only by the annotation test.grove.io/ready=true
  --stages <file>      KWOK Stages in place of KWOK's own
  --feature-gates <a=true,b=false>
  --runtime-config <group/version=true>
  --no-controllers, --no-scheduler, --no-kwok
                       Leave out kube-controller-manager, kube-scheduler, KWOK
  --data <directory>   Keep etcd's data there, also after the end
  --logs <directory>   Keep the logs there, also after the end

The binaries are built from source by Go and kept in $GROVE_TEST_CACHE, or else in
~/.cache/grove-test-kubernetes (below $XDG_CACHE_HOME if that is set).
`

export interface Up {
  readonly kind: 'up'
  readonly nodes: number
  readonly gpus: number
  readonly kubeconfig?: string
  readonly nativeGangs: boolean
  readonly gated: boolean
  readonly stages?: string
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly runtimeConfig: Readonly<Record<string, boolean>>
  readonly controllers: boolean
  readonly scheduler: boolean
  readonly kwok: boolean
  readonly data?: string
  readonly logs?: string
}

export type Invocation =
  | Up
  | { readonly kind: 'kubectl'; readonly args: readonly string[] }
  | { readonly kind: 'build' }
  | { readonly kind: 'help' }

/** Invalid arguments; the message names the error. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function parseInvocation(args: readonly string[]): Invocation {
  const [command, ...rest] = args
  // kubectl has its own flags, --help among them.
  if (command === 'kubectl') return { kind: 'kubectl', args: rest }
  if (command === undefined || command === 'help' || args.includes('--help') || args.includes('-h'))
    return { kind: 'help' }
  if (command === 'up') return parseUp(rest)
  if (command !== 'build') throw new UsageError(`There is no command "${command}": use up, kubectl or build`)
  if (rest.length) throw new UsageError(`build takes no arguments, but got ${JSON.stringify(rest.join(' '))}`)
  return { kind: 'build' }
}

function parseUp(args: string[]): Up {
  const values = readFlags(args)
  if (values.gated && values.stages) throw new UsageError('--gated and --stages exclude each other')
  return {
    kind: 'up',
    nodes: parseCount('--nodes', values.nodes, 3),
    gpus: parseCount('--gpus', values.gpus, 0),
    kubeconfig: values.kubeconfig,
    nativeGangs: values['native-gangs'],
    gated: values.gated,
    stages: values.stages,
    featureGates: parseSwitches('--feature-gates', values['feature-gates']),
    runtimeConfig: parseSwitches('--runtime-config', values['runtime-config']),
    controllers: !values['no-controllers'],
    scheduler: !values['no-scheduler'],
    kwok: !values['no-kwok'],
    data: values.data,
    logs: values.logs,
  }
}

function readFlags(args: string[]) {
  try {
    return parseArgs({
      args,
      strict: true,
      allowPositionals: false,
      options: {
        nodes: { type: 'string' },
        gpus: { type: 'string' },
        kubeconfig: { type: 'string' },
        'native-gangs': { type: 'boolean', default: false },
        gated: { type: 'boolean', default: false },
        stages: { type: 'string' },
        'feature-gates': { type: 'string' },
        'runtime-config': { type: 'string' },
        'no-controllers': { type: 'boolean', default: false },
        'no-scheduler': { type: 'boolean', default: false },
        'no-kwok': { type: 'boolean', default: false },
        data: { type: 'string' },
        logs: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function parseCount(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^\d{1,5}$/.test(text)) throw new UsageError(`${flag} wants a number from 0 to 99999, not "${text}"`)
  return Number(text)
}

function parseSwitches(flag: string, text = ''): Record<string, boolean> {
  const pairs = text
    .split(',')
    .filter(Boolean)
    .map(pair => {
      const found = /^([^=]+)=(true|false)$/.exec(pair)
      if (!found) throw new UsageError(`${flag} wants <name>=true or <name>=false, not "${pair}"`)
      return [found[1]!, found[2] === 'true'] as const
    })
  return Object.fromEntries(pairs)
}
