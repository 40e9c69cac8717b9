// SPDX-License-Identifier: Apache-2.0

// The messages of `grove up` for new users.
import { relative } from 'node:path'
import { label } from '@grove/api'
import { wrapped } from '../../terminal/wrap.ts'
import type { Shown } from './demo.ts'

/** The command for messages. The launcher sets the variable; `npm start` runs without it, in a clone. */
const self = process.env.GROVE_COMMAND ?? (process.env.npm_lifecycle_event ? 'npx grove' : 'grove')

export function welcome(
  about: { url: string; nodes: number; kubeconfig: string },
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const intro = [
    `A Kubernetes cluster with ${about.nodes} simulated ${about.nodes === 1 ? 'node' : 'nodes'} and Grove is running at ${about.url}`,
    'Containers are simulated: no image is pulled and no program runs.',
  ]
  return [
    ...intro.flatMap(line => wrapped(line, columns)),
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
  { set, namespace, path, group, node, cause }: Shown,
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
    [`${self} node kill ${node} --now`, 'stop a node; `node restore` starts it again'],
    [`kubectl delete pcs ${set}${where}`, 'delete the set and all of its objects'],
  ]
  const width = Math.max(...commands.map(([command]) => command.length)) + 2
  const inline = commands.map(([command, why]) => `  ${command.padEnd(width)}# ${why}`)
  const above = commands.flatMap(([command, why]) => [`  # ${why}`, `  ${command}`])
  return [
    '',
    ...(cause === undefined
      ? [`${set} is ready. In another terminal:`]
      : [...stuckMessage({ set, path, cause }, where, columns), '', 'In another terminal:']),
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    ...(inline.every(line => line.length <= columns) ? inline : above),
    '',
    `Instead of kubectl: ${self} get|apply|scale|delete`,
    manifestMessage(path),
    'Press Ctrl-C to stop the cluster.',
  ]
}

/** Printed when the workload waits for something that a user must change, such as nodes that do not exist. */
function stuckMessage(
  { set, path, cause }: { set: string; path: string; cause: string },
  where: string,
  columns: number,
): string[] {
  const texts = [
    `${set} is not ready: ${cause}`,
    `To make it fit: start again with more nodes or GPUs (--nodes, --gpus), or lower replicas and minAvailable in ${relative(process.cwd(), path)}.`,
    `\`${self} explain ${set}${where}\` lists changes that would let it run.`,
  ]
  return texts.flatMap(text => wrapped(text, columns))
}

/** The command that applies the manifest of the demo again. */
export function applyCommandFor(path: string): string {
  return `${self} apply -f ${relative(process.cwd(), path)}`
}

function manifestMessage(path: string): string {
  return `Its manifest is ${relative(process.cwd(), path)}.`
}
