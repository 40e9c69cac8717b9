// SPDX-License-Identifier: Apache-2.0

import { Command } from 'commander'
import { live } from '../options.ts'

export function nodeCommand(): Command {
  const node = new Command('node').description('machines of a simulated cluster: kill, restore, add')
  live(node.command('kill <name...>'))
    .description('the machine dies without a word, and its pods with it')
    .action(async (names, options) => {
      const { killNodes } = await import('./node.ts')
      await killNodes(names, options)
    })
  live(node.command('restore <name...>'))
    .description('the machine is back')
    .action(async (names, options) => {
      const { restoreNodes } = await import('./node.ts')
      await restoreNodes(names, options)
    })
  live(node.command('add <name...>'))
    .description('one more machine; `grove delete node` takes one away')
    .option('--like <node>', 'with what that node offers, and its labels and taints')
    .option('--gpus <number>', 'GPUs')
    .option('--cpu <quantity>', 'processors')
    .option('--memory <quantity>', 'memory')
    .option('--labels <key=value...>', 'labels, such as topology.kubernetes.io/rack=rack-7')
    .action(async (names, options) => {
      const { addNodes } = await import('./node.ts')
      await addNodes(names, options)
    })
  return node
}
