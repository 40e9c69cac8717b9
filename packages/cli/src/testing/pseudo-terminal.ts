// SPDX-License-Identifier: Apache-2.0

// Runs a command on a pseudo-terminal of a given size, with the program `script`, which Linux and macOS have.
import { spawn, spawnSync } from 'node:child_process'

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** The arguments of `script`, which runs a command of bash and writes no file. */
function scriptArgs(command: string): string[] {
  return process.platform === 'darwin'
    ? ['-q', '/dev/null', 'bash', '-c', command]
    : ['--quiet', '--flush', '--return', '--command', command, '/dev/null']
}

export const hasPseudoTerminals = spawnSync('script', scriptArgs('true'), { stdio: 'pipe' }).status === 0

export interface PseudoTerminal {
  /** Everything that the terminal received. */
  output(): string
  /** Types text. `\x03` is Ctrl-C. */
  type(text: string): void
  /** The exit code of the command. */
  readonly ended: Promise<number | null>
  kill(): void
}

export function onPseudoTerminal(
  command: string,
  { columns, rows }: TerminalSize,
  options: { readonly directory: string; readonly environment: NodeJS.ProcessEnv },
): PseudoTerminal {
  const child = spawn('script', scriptArgs(`stty rows ${rows} cols ${columns} && exec ${command}`), {
    cwd: options.directory,
    env: { ...options.environment, SHELL: '/bin/bash', TERM: 'xterm-256color', NO_COLOR: undefined },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', chunk => {
      // Terminals translate line breaks.
      output += chunk.replaceAll('\r', '')
    })
  return {
    output: () => output,
    type: text => child.stdin.write(text),
    ended: new Promise(done => child.on('close', done)),
    kill: () => child.kill('SIGKILL'),
  }
}
