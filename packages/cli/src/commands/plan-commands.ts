// SPDX-License-Identifier: Apache-2.0

// Commands that compute placements. Each loads its code on demand.
import { kinds } from '@grove/api/constants'
import { Command } from 'commander'
import { connected, type Exit, live, nameOf, output } from './options.ts'

export function planCommand(exit: Exit): Command {
  return placed(
    new Command('plan'),
    'PodCliqueSets and the objects they need, or folders; - reads standard input',
  )
    .description('Show where the pods of sets would run, without changing the cluster')
    .option('--pending', 'also plan the gangs that wait in the cluster')
    .action(async options => {
      const { planPlacement } = await import('./plan.ts')
      exit(await planPlacement(options))
    })
}

export function explainCommand(): Command {
  return live(new Command('explain'))
    .argument(
      '[name]',
      'name of a PodCliqueSet or PodGang (default: all waiting gangs of the namespace)',
      nameOf(kinds.podCliqueSet, kinds.podGang),
    )
    .description('Explain why gangs wait and how to fix it')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { explainGangs } = await import('./explain.ts')
      await explainGangs(name, options)
    })
}

export function capacityCommand(): Command {
  return placed(
    new Command('capacity'),
    'PodCliqueSets and the objects they need, or folders; - reads standard input; they form one copy',
  )
    .description('Show how many more copies of sets fit, and what limits them')
    .option('--max <number>', 'stop counting at this number of copies (default: 1000)')
    .action(async options => {
      const { showCapacity } = await import('./capacity.ts')
      await showCapacity(options)
    })
}

function placed(command: Command, files: string): Command {
  return connected(command)
    .option('-f, --filename <file...>', files)
    .option('--nodes <file...>', 'read the cluster from manifests: nodes, pods, PodGangs, topology bindings')
    .option('--snapshot <file...>', 'same as --nodes')
    .option('-n, --namespace <namespace>', 'namespace of sets that name none (default: default)')
    .option('--config <file>', 'operator configuration (default: as in `grove up`)')
    .addOption(output('text', 'json'))
}
