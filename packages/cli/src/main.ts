// SPDX-License-Identifier: Apache-2.0

import { realpathSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import about from '../package.json' with { type: 'json' }
import { CommandError } from './command-error.ts'
import {
  dashboardCommand,
  diagnoseCommand,
  doctorCommand,
  handbackCommand,
} from './commands/cluster-commands.ts'
import {
  crdsCommand,
  hashCommand,
  impactCommand,
  manifestsCommand,
  renderCommand,
  validateCommand,
} from './commands/manifest-commands.ts'
import { nodeCommand } from './commands/node-command.ts'
import type { Exit } from './commands/options.ts'
import { capacityCommand, explainCommand, planCommand } from './commands/plan-commands.ts'
import { statusCommand, treeCommand } from './commands/set-commands.ts'
import { upCommand } from './commands/up-command.ts'
import { completionCommand, hiddenCommand } from './completion/command.ts'
import { applyCommand, deleteCommand, getCommand, scaleCommand } from './objects/commands.ts'
import { rolloutCommand } from './rollout/commands.ts'
import { printNote } from './terminal/print.ts'
import { terminal } from './terminal/terminal.ts'

const commands: readonly ((exit: Exit) => Command)[] = [
  validateCommand,
  crdsCommand,
  manifestsCommand,
  hashCommand,
  renderCommand,
  impactCommand,
  planCommand,
  explainCommand,
  capacityCommand,
  upCommand,
  nodeCommand,
  treeCommand,
  statusCommand,
  dashboardCommand,
  applyCommand,
  getCommand,
  deleteCommand,
  scaleCommand,
  rolloutCommand,
  doctorCommand,
  diagnoseCommand,
  handbackCommand,
  completionCommand,
]

/** kubectl commands that users may try here. */
const kubectlVerbs: ReadonlySet<string> = new Set(
  'annotate api-resources auth cordon create describe diff drain edit events exec label logs patch port-forward run taint top uncordon wait'.split(
    ' ',
  ),
)

/** The command line with all commands. Commands report their exit code to `exit`. */
export function groveProgram(exit: Exit): Command {
  const program = new Command('grove')
    .description('Validate, render and inspect PodCliqueSets, or run a local cluster with Grove')
    .version(about.version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: text => terminal().stdout.write(text),
      writeErr: text => terminal().stderr.write(text),
    })
    .showHelpAfterError('Run with --help for usage.')
    .configureHelp({ sortSubcommands: true })
  for (const command of commands) program.addCommand(inheriting(program, command(exit)))
  return program
}

/**
 * Exit codes: 0 success. 1 a negative result (rejected, would restart) or an unexpected error. 2 the command could not
 * run.
 */
export async function run(args: readonly string[]): Promise<number> {
  let exitCode = 0
  const exit = (code: number) => {
    exitCode = code
  }
  const program = groveProgram(exit)
  try {
    if (args[0] === hiddenCommand) {
      const { complete } = await import('./completion/complete.ts')
      await complete(program, args.slice(1))
      return 0
    }
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

/** A bug of this program or of its environment: print one line that the user can report. */
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
  // Not awaited: the single executable is a CommonJS module, which has no await at its top level.
  void run(process.argv.slice(2)).then(code => {
    process.exitCode = code
  })
}
