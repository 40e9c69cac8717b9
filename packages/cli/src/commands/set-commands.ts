// SPDX-License-Identifier: Apache-2.0

import { Command } from 'commander'
import { type Exit, live, nameOfSet, output } from './options.ts'

export function treeCommand(): Command {
  return followed('tree', 'Show a PodCliqueSet and all of its objects as a tree').action(
    async (name, options) => {
      const { tree } = await import('./tree.ts')
      await tree(name, options)
    },
  )
}

export function statusCommand(exit: Exit): Command {
  return followed('status', 'Show the status of a PodCliqueSet, and why it is not available')
    .option('-A, --all-namespaces', 'show one line for each set of the cluster')
    .action(async (name, options) => {
      const { status } = await import('./status.ts')
      exit(await status(name, options))
    })
}

function followed(name: string, description: string): Command {
  return live(new Command(name))
    .argument('[name]', 'name of the PodCliqueSet; optional if there is only one', nameOfSet)
    .description(description)
    .option('-w, --watch', 'print every change until the set is deleted')
    .addOption(output('text', 'json'))
}
