// SPDX-License-Identifier: Apache-2.0

import { Command } from 'commander'
import { connected } from './options.ts'

export function nodeCommand(): Command {
  const node = new Command('node').description('Stop, restart or add nodes of a simulated cluster')
  connected(node.command('kill <name...>'))
    .description('Stop nodes and their pods without a graceful shutdown')
    .option('--now', 'set the nodes NotReady and delete their pods at once, instead of after minutes')
    .action(async (names, options) => {
      const { killNodes } = await import('./node.ts')
      await killNodes(names, options)
    })
  connected(node.command('restore <name...>'))
    .description('Restart stopped nodes')
    .action(async (names, options) => {
      const { restoreNodes } = await import('./node.ts')
      await restoreNodes(names, options)
    })
  connected(node.command('add <name...>'))
    .description('Add nodes; `grove delete node` removes them')
    .option('--like <node>', 'copy resources, labels and taints of this node')
    .option('--gpus <number>', 'number of GPUs')
    .option('--cpu <quantity>', 'CPU capacity')
    .option('--memory <quantity>', 'memory capacity')
    .option('--labels <key=value...>', 'node labels, such as topology.kubernetes.io/rack=rack-7')
    .action(async (names, options) => {
      const { addNodes } = await import('./node.ts')
      await addNodes(names, options)
    })
  return node
}
