// SPDX-License-Identifier: Apache-2.0

// The messages of `grove up` for new users.
import { relative } from 'node:path'
import { label } from '@grove/api'
import type { Shown } from './demo.ts'

/** The command that the user typed. The launcher sets the variable; without it the command runs through npm. */
const self =
  process.env.GROVE_COMMAND ?? (process.env.npm_lifecycle_event ? 'npm run --silent grove --' : 'grove')

export function welcome(about: { url: string; nodes: number; kubeconfig: string }): string[] {
  return [
    `A Kubernetes cluster with ${about.nodes} simulated ${about.nodes === 1 ? 'node' : 'nodes'} and Grove is running at ${about.url}`,
    '',
    `  export KUBECONFIG=${about.kubeconfig}`,
    `  kubectl get nodes    # or: ${self} get nodes`,
    '',
  ]
}

/** Printed with --exit-when-ready, after which the cluster stops. */
export function readyMessage({ set, path }: Shown): string[] {
  return ['', `${set} is ready. ${manifestMessage(path)}`]
}

/** The comment of a command is printed on the same line if the terminal is wide enough, otherwise above it. */
export function whatNext(
  { set, namespace, path, group, node }: Shown,
  kubeconfig: string,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const where = namespace === 'default' ? '' : ` -n ${namespace}`
  const scaled =
    group === undefined ? `pcs ${set} --replicas=2` : `pcsg ${group.name} --replicas=${group.replicas + 1}`
  const mine = `${label.partOf}=${set}`
  const commands: [string, string][] = [
    [`kubectl get pcsg,pclq,pg,pods -l ${mine}${where}`, 'list its objects'],
    [`${self} tree ${set}${where} --watch`, 'watch it while you try the next commands'],
    [
      `kubectl scale ${scaled}${where}`,
      group ? 'add a scaling group replica in its own gang' : 'add a second replica',
    ],
    [`kubectl delete pod -l ${mine}${where} --wait=false`, 'all pods are recreated'],
    [`${self} node kill ${node}`, 'stop a node; `node restore` starts it again'],
    [`kubectl delete pcs ${set}${where}`, 'delete the set and all of its objects'],
  ]
  const width = Math.max(...commands.map(([command]) => command.length)) + 2
  const inline = commands.map(([command, why]) => `  ${command.padEnd(width)}# ${why}`)
  const above = commands.flatMap(([command, why]) => [`  # ${why}`, `  ${command}`])
  return [
    '',
    `${set} is ready. In another terminal:`,
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    ...(inline.every(line => line.length <= columns) ? inline : above),
    '',
    `Instead of kubectl: ${self} get|apply|scale|delete`,
    `${manifestMessage(path)} Press Ctrl-C to stop the cluster.`,
  ]
}

/** The command that applies the manifest of the demo again. */
export function applyCommandFor(path: string): string {
  return `${self} apply -f ${relative(process.cwd(), path)}`
}

function manifestMessage(path: string): string {
  return `Its manifest is ${relative(process.cwd(), path)}.`
}
