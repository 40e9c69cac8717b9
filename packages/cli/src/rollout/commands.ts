// SPDX-License-Identifier: Apache-2.0

// `grove rollout` shows and restores revisions of a set, with the arguments of kubectl.
import { Command } from 'commander'
import { type Exit, live, nameOfSet, output } from '../commands/options.ts'
import { dryRun } from '../objects/commands.ts'

export function rolloutCommand(exit: Exit): Command {
  const rollout = new Command('rollout').description(
    'Show, restart, pause or roll back the update of a PodCliqueSet',
  )
  const command = (name: string) =>
    live(rollout.command(name)).argument('<name>', 'name of the PodCliqueSet', nameOfSet)

  command('history')
    .description('List the revisions of a PodCliqueSet, oldest first')
    .option('--revision <number>', 'print the content of this revision')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { history } = await import('./history.ts')
      await history(name, options)
    })

  command('diff')
    .description('Compare two revisions; exit with 1 if pods would restart')
    .option('--revision <number>', 'older revision (default: the one before the current)')
    .option('--to-revision <number>', 'newer revision (default: the current set)')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { diff } = await import('./diff.ts')
      exit(await diff(name, options))
    })

  command('undo')
    .description('Roll back to the pod templates of an earlier revision')
    .option('--to-revision <number>', 'revision (default: the one before the current)')
    .addOption(dryRun())
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { undo } = await import('./undo.ts')
      await undo(name, options)
    })

  command('restart')
    .description('Replace all pods with the update strategy of the set')
    .addOption(dryRun())
    .action(async (name, options) => {
      const { restart } = await import('./restart.ts')
      await restart(name, options)
    })

  command('pause')
    .description('Replace no more pods until `rollout resume`')
    .addOption(dryRun())
    .action(async (name, options) => {
      const { setPaused } = await import('./pause.ts')
      await setPaused(name, true, options)
    })

  command('resume')
    .description('Continue a paused update')
    .addOption(dryRun())
    .action(async (name, options) => {
      const { setPaused } = await import('./pause.ts')
      await setPaused(name, false, options)
    })

  command('status')
    .description('Show the progress of the rollout; exit with 1 until it is complete')
    .option('-w, --watch', 'wait until it is complete, or its deadline has passed')
    .option('--timeout <duration>', 'with --watch: maximum time to wait, such as 90 or 5m')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { rolloutStatus } = await import('./status.ts')
      exit(await rolloutStatus(name, options))
    })

  return rollout
}
