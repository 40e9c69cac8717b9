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

/** kubectl commands that users may try here. */
const kubectlVerbs: ReadonlySet<string> = new Set(
  'annotate api-resources auth cordon create describe diff drain edit events exec explain label logs patch port-forward run taint top uncordon wait'.split(
    ' ',
  ),
)

/**
 * Exit codes: 0 success. 1 a negative result (rejected, would restart) or an unexpected error. 2 the command could not
 * run.
 */
export async function run(args: readonly string[]): Promise<number> {
  let exitCode = 0
  const exit = (code: number) => {
    exitCode = code
  }
  const program = new Command('grove')
    .description('Validate, render and inspect PodCliqueSets, or run a local cluster with Grove')
    .version(about.version, '-V, --version', 'Print the version')
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal().stdout.write(text),
      writeErr: text => terminal().stderr.write(text),
    })
    .showHelpAfterError('Run with --help for usage.')
    .configureHelp({ sortSubcommands: true })

  // Load commands on demand, because the schemas of one slow down the others.
  program
    .command('validate')
    .description('Validate manifests as admission would, without a cluster')
    .requiredOption(
      '-f, --filename <file...>',
      'manifests or AdmissionReviews, or folders of them; - reads standard input',
    )
    .option('--old <file>', 'stored objects: validate an update of them')
    .option('--config <file>', 'operator configuration (default: the built-in one)')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { validate } = await import('./commands/validate.ts')
      exitCode = await validate(options)
    })

  program
    .command('crds')
    .description('Print the custom resource definitions')
    .addOption(output('yaml', 'json'))
    .action(async options => {
      const { crds } = await import('./commands/crds.ts')
      crds(options)
    })

  program
    .command('hash')
    .description('Print the revision hash of every clique and of the whole set')
    .requiredOption(
      '-f, --filename <file...>',
      'PodCliqueSet manifests, or folders of them; - reads standard input',
    )
    .option('--legacy', 'print the hash that the Go-based operator stores')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { hash } = await import('./commands/hash.ts')
      await hash(options)
    })

  program
    .command('up')
    .description('Run a local cluster: API server, simulated nodes, scheduler and operator')
    .option('--nodes <number>', 'number of simulated nodes (default: 32)')
    .option('--gpus <number>', 'GPUs per node (default: 8)')
    .option('--topology <file>', 'nodes and their topology; see playground/topology')
    .option('--port <port>', 'port of the API server (default: any free port)')
    .option('--kubeconfig <file>', 'file to write the kubeconfig to (default: a temporary file)')
    .option('--data <folder>', 'store objects in this folder, so that they survive a restart')
    .option('--config <file>', 'operator configuration (default: the built-in one)')
    .option('--demo [name]', `apply a workload and show its status: ${workloads().join(', ')}, or a file`)
    .option('--exit-when-ready', 'exit when the demo is ready')
    .action(async options => {
      const { up } = await import('./commands/up.ts')
      exitCode = await up(options)
    })

  program
    .command('render')
    .description('Print every object that the operator would create for a set')
    .requiredOption(
      '-f, --filename <file...>',
      'PodCliqueSet manifests and the objects they refer to; - reads standard input',
    )
    .option('--config <file>', 'operator configuration (default: the built-in one)')
    .addOption(output('yaml', 'json'))
    .action(async options => {
      const { render } = await import('./commands/render.ts')
      await render(options)
    })

  live(program.command('tree'))
    .argument('[name]', 'name of the PodCliqueSet; optional if there is only one')
    .description('Show a PodCliqueSet and all of its objects as a tree')
    .option('-w, --watch', 'print every change until the set is deleted')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { tree } = await import('./commands/tree.ts')
      await tree(name, options)
    })

  live(program.command('status'))
    .argument('[name]', 'name of the PodCliqueSet; optional if there is only one')
    .description('Show the status of a PodCliqueSet and why it is not ready')
    .option('-w, --watch', 'print every change until the set is deleted')
    .addOption(output('text', 'json'))
    .action(async (name, options) => {
      const { status } = await import('./commands/status.ts')
      exitCode = await status(name, options)
    })

  program
    .command('impact')
    .description('Show which pods an edit would restart, and because of which field')
    .requiredOption('--old <file>', 'current PodCliqueSet')
    .requiredOption('-f, --filename <file>', 'edited PodCliqueSet')
    .option('--exit-code', 'exit with 1 if pods restart')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { impact } = await import('./commands/impact.ts')
      exitCode = await impact(options)
    })

  for (const command of [applyCommand, getCommand, deleteCommand, scaleCommand, nodeCommand, rolloutCommand])
    program.addCommand(inheriting(program, command(exit)))

  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.code === 'commander.unknownCommand' && kubectlVerbs.has(args[0] ?? ''))
        printNote(`\`kubectl ${args[0]}\` provides this command; \`grove up\` prints the kubeconfig for it`)
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

/** If set, unexpected errors are printed with their stack trace. */
const debugVariable = 'GROVE_DEBUG'

/** A defect of this program or of its environment: print one line that the user can report. */
function reportUnexpected(error: unknown): number {
  const [message] = (error instanceof Error ? error.message || error.name : String(error)).split('\n')
  if (process.env[debugVariable] && error instanceof Error)
    for (const line of (error.stack ?? error.message).split('\n')) printNote(line)
  else printNote(`grove: unexpected error: ${message} (set ${debugVariable}=1 to print the stack trace)`)
  return 1
}

/** Applies the output and exit settings of the program to commands that are defined in other files. */
function inheriting(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent)
  for (const child of command.commands) inheriting(command, child)
  return command
}

function isMain(): boolean {
  return process.argv[1] !== undefined && realpathSync(process.argv[1]) === import.meta.filename
}

if (isMain()) {
  // A reader that closes early (`grove crds | head`) is not an error.
  process.stdout.on('error', error => {
    if ('code' in error && error.code === 'EPIPE') process.exit(0)
    throw error
  })
  // Errors that no caller awaits, such as in a timer.
  process.on('uncaughtException', error => process.exit(reportUnexpected(error)))
  process.exitCode = await run(process.argv.slice(2))
}
