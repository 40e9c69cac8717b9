// SPDX-License-Identifier: Apache-2.0

import { Argument, Command } from 'commander'

/** Shells call it with the args of the line. It is not part of the help. */
export const hiddenCommand = '__complete'

export const shells = ['bash', 'zsh', 'fish'] as const

export function completionCommand(): Command {
  return new Command('completion')
    .description('Print the script that completes commands, options, types and names in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText(
      'after',
      `
To load it in every new shell:
  bash:  echo 'source <(grove completion bash)' >> ~/.bashrc
  zsh:   echo 'source <(grove completion zsh)' >> ~/.zshrc
  fish:  grove completion fish > ~/.config/fish/completions/grove.fish`,
    )
    .action(async (shell: (typeof shells)[number]) => {
      const { printScript } = await import('./scripts.ts')
      printScript(shell)
    })
}
