#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0

import { realpathSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import about from '../package.json' with { type: 'json' }
import { CommandError } from './command-error.ts'
import { nodeCommand } from './commands/node-command.ts'
import { workloads } from './commands/up/playground.ts'
import { applyCommand, deleteCommand, getCommand, scaleCommand } from './objects/commands.ts'
import { live, output } from './options.ts'
import { printNote } from './print.ts'
import { rolloutCommand } from './rollout/commands.ts'
import { terminal } from './terminal.ts'

/** What people who know kubectl try first. */
const kubectlVerbs: ReadonlySet<string> = new Set(
  'annotate api-resources auth cordon create describe diff drain edit events exec explain label logs patch port-forward run taint top uncordon wait'.split(
    ' ',
  ),
)

/**
 * Exit codes: 0 done, 1 the answer is "no" (rejected, would restart) or an unexpected error, 2 the command could not do
 * its work.
 */
export async function run(words: readonly string[]): Promise<number> {
  let exitCode = 0
  const exit = (code: number) => {
    exitCode = code
  }
  const program = new Command('grove')
    .description('One API for any multi-node AI inference system: check, render and understand PodCliqueSets')
    .version(about.version, '-V, --version', 'which version this is')
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal().stdout.write(text),
      writeErr: text => terminal().stderr.write(text),
    })
    .showHelpAfterError('(add --help for what there is)')
    .configureHelp({ sortSubcommands: true })

  // Commands load when they are called: the schemas of one are dead weight for another.
  program
    .command('validate')
    .description('what admission would say of manifests, without a cluster')
    .requiredOption(
      '-f, --filename <file...>',
      'manifests or AdmissionReviews to check, or folders of them; - reads standard input',
    )
    .option('--old <file>', 'the stored objects: check an update from them')
    .option('--config <file>', 'operator configuration to judge by (default: the built-in one)')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { validate } = await import('./commands/validate.ts')
      exitCode = await validate(options)
    })

  program
    .command('crds')
    .description('print the custom resource definitions')
    .addOption(output('yaml', 'json'))
    .action(async options => {
      const { crds } = await import('./commands/crds.ts')
      crds(options)
    })

  program
    .command('hash')
    .description('the revision hash of every clique and of the whole set')
    .requiredOption(
      '-f, --filename <file...>',
      'PodCliqueSet manifests, or folders of them; - reads standard input',
    )
    .option('--legacy', 'the hash that older operators stored, for taking over their clusters')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { hash } = await import('./commands/hash.ts')
      await hash(options)
    })

  program
    .command('up')
    .description('a whole cluster in this process: API, simulated nodes, scheduler, operator')
    .option('--nodes <number>', 'simulated nodes (default: 32)')
    .option('--gpus <number>', 'GPUs of each node (default: 8)')
    .option('--topology <file>', 'which nodes there are, and how they are grouped; see playground/topology')
    .option('--port <port>', 'port of the API (default: any free one)')
    .option('--kubeconfig <file>', 'where to write the kubeconfig (default: one of its own)')
    .option('--data <folder>', 'keep the objects there, so that they outlive the process')
    .option('--config <file>', 'operator configuration (default: the built-in one)')
    .option(
      '--demo [name]',
      `apply a workload and show it coming to life: ${workloads().join(', ')}, or that of a file`,
    )
    .option('--exit-when-ready', 'stop as soon as the demo is ready')
    .action(async options => {
      const { up } = await import('./commands/up.ts')
      exitCode = await up(options)
    })

  program
    .command('render')
    .description('every object the operator would create for a set, once all of it is ready')
    .requiredOption(
      '-f, --filename <file...>',
      'PodCliqueSet manifest and what it refers to; - reads standard input',
    )
    .option('--config <file>', 'operator configuration to render by (default: the built-in one)')
    .addOption(output('yaml', 'json'))
    .action(async options => {
      const { render } = await import('./commands/render.ts')
      await render(options)
    })

  live(program.command('tree'))
    .argument('[name]', 'the set; not needed where there is only one')
    .description('a live set with everything below it')
    .option('-w, --watch', 'follow every change, until it is gone')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { tree } = await import('./commands/tree.ts')
      await tree(name, options)
    })

  live(program.command('status'))
    .argument('[name]', 'the set; not needed where there is only one')
    .description('what a live set says of itself, and what stands in its way')
    .option('-w, --watch', 'follow every change, until it is gone')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { status } = await import('./commands/status.ts')
      exitCode = await status(name, options)
    })

  program
    .command('impact')
    .description('would this edit restart pods, which, and because of which field?')
    .requiredOption('--old <file>', 'the PodCliqueSet as it is')
    .requiredOption('-f, --filename <file>', 'the PodCliqueSet as it would be')
    .option('--exit-code', 'exit with 1 when something restarts')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { impact } = await import('./commands/impact.ts')
      exitCode = await impact(options)
    })

  for (const command of [applyCommand, getCommand, deleteCommand, scaleCommand, nodeCommand, rolloutCommand])
    program.addCommand(inheriting(program, command(exit)))

  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.code === 'commander.unknownCommand' && kubectlVerbs.has(words[0] ?? ''))
        printNote(`\`kubectl ${words[0]}\` does that; \`grove up\` prints the kubeconfig for it`)
      return error.exitCode === 0 ? 0 : 2
    }
    if (error instanceof CommandError) {
      printNote(`grove: ${error.message}`)
      return error.exitCode
    }
    return reportUnexpected(error)
  }
  return exitCode
}

/** Set to anything, unexpected errors are printed with their stack. */
const debugVariable = 'GROVE_DEBUG'

/** A defect of this program, or of the machine it runs on: one line, which the user can report. */
function reportUnexpected(error: unknown): number {
  const [message] = (error instanceof Error ? error.message || error.name : String(error)).split('\n')
  if (process.env[debugVariable] && error instanceof Error)
    for (const line of (error.stack ?? error.message).split('\n')) printNote(line)
  else printNote(`grove: unexpected error: ${message} (${debugVariable}=1 shows where)`)
  return 1
}

/** Commands that are made elsewhere know nothing of how this program ends and where it writes. */
function inheriting(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent)
  for (const child of command.commands) inheriting(command, child)
  return command
}

function isMain(): boolean {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename
}

if (isMain()) {
  // A reader that closes early (`grove crds | head`) is no error.
  process.stdout.on('error', error => {
    if ('code' in error && error.code === 'EPIPE') process.exit(0)
    throw error
  })
  // Thrown where no caller waits, such as in a timer.
  process.on('uncaughtException', error => process.exit(reportUnexpected(error)))
  process.exitCode = await run(process.argv.slice(2))
}
