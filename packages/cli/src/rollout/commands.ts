// SPDX-License-Identifier: Apache-2.0

// `grove rollout`: the revisions of a set, in the words of kubectl.
import { Command } from 'commander'
import { dryRun, type Exit } from '../objects/commands.ts'
import { live, output } from '../options.ts'

export function rolloutCommand(exit: Exit): Command {
  const rollout = new Command('rollout').description('the revisions of a live set, and how an update gets on')
  const command = (name: string) => live(rollout.command(`${name} <name>`))

  command('history')
    .description('the revisions that are on record, oldest first')
    .option('--revision <number>', 'all that is recorded of this one')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { history } = await import('./history.ts')
      await history(name, options)
    })

  command('diff')
    .description('what makes two revisions differ; exit code 1 when pods would restart')
    .option('--revision <number>', 'the older one (default: the one before the current)')
    .option('--to-revision <number>', 'the newer one (default: the set as it is)')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { diff } = await import('./diff.ts')
      exit(await diff(name, options))
    })

  command('undo')
    .description('give the pods of a set the template of an earlier revision; all else stays as it is')
    .option('--to-revision <number>', 'which one (default: the one before the current)')
    .addOption(dryRun())
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { undo } = await import('./undo.ts')
      await undo(name, options)
    })

  command('status')
    .description('how the newest revision gets on, and what it waits for; exit code 1 while it is not done')
    .option('-w, --watch', 'until it is done, or its deadline has passed')
    .option('--timeout <seconds>', 'with --watch: no longer than this')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { rolloutStatus } = await import('./status.ts')
      exit(await rolloutStatus(name, options))
    })

  return rollout
}
