// SPDX-License-Identifier: Apache-2.0

// What `grove up` says to somebody who has never used it.
import { relative } from 'node:path'
import { label } from '@grove/api'
import type { Shown } from './demo.ts'

/** How the reader calls this command: from a clone it runs by npm. */
const self = process.env.npm_lifecycle_event ? 'npm run --silent grove --' : 'grove'

export function welcome(about: { url: string; nodes: number; kubeconfig: string }): string[] {
  return [
    `A Kubernetes with ${about.nodes} simulated nodes and Grove is up at ${about.url}`,
    '',
    `  export KUBECONFIG=${about.kubeconfig}`,
    `  kubectl get nodes    # or: ${self} get nodes`,
    '',
  ]
}

/** For a reader whose cluster ends with this. */
export function readyWords({ set, path }: Shown): string[] {
  return ['', `${set} is ready. ${setLies(path)}`]
}

/** Why to type a command stands beside it where the terminal is wide enough, else above it. */
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
    [`kubectl get pcsg,pclq,pg,pods -l ${mine}${where}`, 'what it consists of'],
    [`${self} tree ${set}${where} --watch`, 'look on while you try the next ones'],
    [`kubectl scale ${scaled}${where}`, group ? 'one more group, one more gang' : 'once more the same'],
    [`kubectl delete pod -l ${mine}${where} --wait=false`, 'everything comes back'],
    [`${self} node kill ${node}`, 'a machine dies; node restore brings it back'],
    [`kubectl delete pcs ${set}${where}`, 'and all of it is gone'],
  ]
  const width = Math.max(...commands.map(([command]) => command.length)) + 2
  const beside = commands.map(([command, why]) => `  ${command.padEnd(width)}# ${why}`)
  const above = commands.flatMap(([command, why]) => [`  # ${why}`, `  ${command}`])
  return [
    '',
    `${set} is ready. In another terminal:`,
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    ...(beside.every(line => line.length <= columns) ? beside : above),
    '',
    `Instead of kubectl: ${self} get|apply|scale|delete`,
    `${setLies(path)} Ctrl-C ends the cluster.`,
  ]
}

function setLies(path: string): string {
  return `The set is ${relative(process.cwd(), path)}.`
}
