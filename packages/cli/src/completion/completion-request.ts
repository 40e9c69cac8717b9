// SPDX-License-Identifier: Apache-2.0

// Determines the possible values of the word under the cursor. Pure: it reads only the definitions of the commands.
import type { Command, Option } from 'commander'

/** The kind of values that complete the word under the cursor. */
export type Wanted =
  | { readonly kind: 'values'; readonly values: readonly Candidate[] }
  | { readonly kind: 'files' }
  /** Types and TYPE/NAME of objects; names of the first type if there is one already. */
  | { readonly kind: 'objects'; readonly type: string | undefined }
  | { readonly kind: 'namespaces' }
  | { readonly kind: 'nothing' }

export interface Candidate {
  readonly value: string
  readonly description?: string
}

export interface CompletionRequest {
  readonly wanted: Wanted
  /** The beginning of the word, which candidates must have. `--output=` is part of it. */
  readonly word: string
  /** The connection options before the cursor, by their long names without dashes. */
  readonly options: Readonly<Record<string, string | true>>
}

/** `args` are the arguments of the program. The last one is the word under the cursor, possibly empty. */
export function completionRequest(program: Command, args: readonly string[]): CompletionRequest {
  const line = readLine(program, args.slice(0, -1))
  const word = args.at(-1) ?? ''
  return { wanted: wantedAt(line, word), word, options: line.options }
}

interface Line {
  readonly command: Command
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | true>>
  /** The option whose value follows. */
  readonly pending: Option | undefined
  /** Only arguments follow, because of `--`. */
  readonly isLiteral: boolean
}

function readLine(program: Command, args: readonly string[]): Line {
  let command = program
  let pending: Option | undefined
  let isLiteral = false
  const positionals: string[] = []
  const options: Record<string, string | true> = {}
  for (const word of args) {
    const isFlag = !isLiteral && word.startsWith('-') && word !== '-'
    if (pending && !isFlag) {
      options[pending.name()] = word
      // Further values of a variadic option may follow.
      if (!pending.variadic) pending = undefined
    } else if (word === '--' && !isLiteral) {
      isLiteral = true
      pending = undefined
    } else if (isFlag) {
      const [flag = '', value] = word.split(/=(.*)/s)
      const option = optionNamed(command, flag)
      pending = option?.required && value === undefined ? option : undefined
      if (option) options[option.name()] = value ?? true
    } else {
      const child = positionals.length === 0 ? command.commands.find(each => isNamed(each, word)) : undefined
      if (child) command = child
      else positionals.push(word)
    }
  }
  return { command, positionals, options, pending, isLiteral }
}

function isNamed(command: Command, word: string): boolean {
  return command.name() === word || command.aliases().includes(word)
}

function optionNamed(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => long === flag || short === flag)
}

function wantedAt({ command, positionals, pending, isLiteral }: Line, word: string): Wanted {
  const [flag = '', value] = word.split(/=(.*)/s)
  if (!isLiteral && word.startsWith('-') && value !== undefined) {
    const option = optionNamed(command, flag)
    return option ? valuesOf(option, `${flag}=`) : { kind: 'nothing' }
  }
  // A single dash is also a value of an option: standard input.
  const isFlag = !isLiteral && word.startsWith('-') && !(pending && word === '-')
  if (isFlag) return { kind: 'values', values: flagsOf(command) }
  if (pending) return valuesOf(pending, '')
  if (command.commands.length > 0) return { kind: 'values', values: subcommandsOf(command) }
  return argumentsOf(command, positionals)
}

function valuesOf(option: Option, prefix: string): Wanted {
  if (option.argChoices) return { kind: 'values', values: choicesOf(option.argChoices, prefix) }
  if (/[<[](file|folder)/.test(option.flags)) return { kind: 'files' }
  return option.name() === 'namespace' ? { kind: 'namespaces' } : { kind: 'nothing' }
}

/** Of a choice with a template, such as jsonpath=TEMPLATE, only the fixed part. */
function choicesOf(choices: readonly string[], prefix: string): Candidate[] {
  return choices.map(choice => ({ value: prefix + choice.replace(/=.*/s, '=') }))
}

function flagsOf(command: Command): Candidate[] {
  const visible = command.createHelp().visibleOptions(command)
  return visible.flatMap(({ long, short, description }) => [
    ...(long ? [{ value: long, description }] : []),
    ...(short ? [{ value: short, description }] : []),
  ])
}

function subcommandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map(each => ({ value: each.name(), description: each.description() }))
}

function argumentsOf(command: Command, positionals: readonly string[]): Wanted {
  const { registeredArguments } = command
  const argument = registeredArguments[positionals.length] ?? registeredArguments.at(-1)
  const isPast = positionals.length >= registeredArguments.length && !argument?.variadic
  if (!argument || isPast) return { kind: 'nothing' }
  if (argument.argChoices) return { kind: 'values', values: choicesOf(argument.argChoices, '') }
  const type = typeNamedBy(command, argument.name())
  if (type === undefined) return { kind: 'nothing' }
  if (type !== anyType) return { kind: 'objects', type }
  const [first] = positionals
  return { kind: 'objects', type: first === undefined || first.includes('/') ? undefined : first }
}

const anyType = ''

/** The type of the objects that an argument names. */
function typeNamedBy(command: Command, argument: string): string | undefined {
  if (argument === 'resource') return anyType
  // The names of new nodes are free.
  if (command.parent?.name() === 'node') return command.name() === 'add' ? undefined : 'nodes'
  return argument === 'name' || argument === 'names' ? 'podcliquesets.grove.io' : undefined
}
