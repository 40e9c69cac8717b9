// SPDX-License-Identifier: Apache-2.0

import { isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { type LogLevel, logLevels } from '@grove/kube'
import { defaultHost } from '../server/server.ts'

const defaultPort = 9450
const defaultProbesPort = 9451

export const usage = `Usage: grove-dashboard [--port PORT] [--bind-address ADDRESS] [--allowed-hosts NAMES]

  --port PORT              port of the dashboard; default: ${defaultPort}
  --bind-address ADDRESS   its address; default: ${defaultHost}, which only kubectl port-forward reaches in a pod
  --allowed-hosts NAMES    host names that are served in addition to localhost and addresses, separated by commas
  --probes-port PORT       port of /healthz and /readyz; default: ${defaultProbesPort}
  --probes-bind-address    their address; default: all addresses, because kubelets read them
  --namespace NAMESPACE    show this namespace only, without nodes
  --log-level LEVEL        ${logLevels.join(', ')}; default: info
  -h, --help               print this text and exit

The cluster is the one that KUBECONFIG names, else the one it runs in, else that of ~/.kube/config.
`

export interface DashboardArguments {
  readonly host: string
  readonly port: number
  readonly allowedHosts: readonly string[]
  readonly probes: { readonly port: number; readonly host?: string }
  readonly namespace: string | undefined
  readonly logLevel: LogLevel
}

/** The message says what to change. */
export class ArgumentError extends Error {}

export function readArguments(args: readonly string[]): DashboardArguments | 'help' {
  const values = parsed(args)
  if (values.help) return 'help'
  const host = addressOf('--bind-address', values['bind-address']) ?? defaultHost
  const probesHost = addressOf('--probes-bind-address', values['probes-bind-address'])
  const logLevel = logLevels.find(level => level === (values['log-level'] ?? 'info'))
  if (!logLevel) throw new ArgumentError(`--log-level must be one of ${logLevels.join(', ')}`)
  return {
    host,
    port: portOf('--port', values.port, defaultPort),
    allowedHosts: hostNames(values['allowed-hosts'] ?? ''),
    probes: {
      port: portOf('--probes-port', values['probes-port'], defaultProbesPort),
      ...(probesHost !== undefined && { host: probesHost }),
    },
    namespace: values.namespace,
    logLevel,
  }
}

/** Splits and checks a list of host names. */
function hostNames(text: string): string[] {
  const names = text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
  const wrong = names.find(name => !/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(name))
  if (wrong !== undefined)
    throw new ArgumentError(`--allowed-hosts takes host names without scheme and port, not ${quoted(wrong)}`)
  return names
}

function addressOf(option: string, text: string | undefined): string | undefined {
  if (text !== undefined && isIP(text) === 0)
    throw new ArgumentError(`${option} must be an IP address, not ${quoted(text)}`)
  return text
}

function portOf(option: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw new ArgumentError(`${option} must be a port, not ${quoted(text)}`)
  return port
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        'bind-address': { type: 'string' },
        'allowed-hosts': { type: 'string' },
        'probes-port': { type: 'string' },
        'probes-bind-address': { type: 'string' },
        namespace: { type: 'string' },
        'log-level': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    throw new ArgumentError(`${(error as Error).message}; see --help`)
  }
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
