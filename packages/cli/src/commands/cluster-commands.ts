// SPDX-License-Identifier: Apache-2.0

// Commands about the cluster as a whole.
import { Command } from 'commander'
import { connected, type Exit, live, nameOfSet, output } from './options.ts'

const defaultOperatorNamespace = 'grove-system'

export function doctorCommand(exit: Exit): Command {
  return operated('doctor', 'Check whether the cluster is ready for Grove, and print what to repair')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { doctor } = await import('./doctor.ts')
      exit(await doctor(options))
    })
}

export function dashboardCommand(): Command {
  return connected(new Command('dashboard'))
    .description(
      'Serve a read-only web page of all PodCliqueSets, their gangs and the nodes, on this machine only',
    )
    .option(
      '-n, --namespace <namespace>',
      'show this namespace only, without nodes (default: all namespaces)',
    )
    .option('--port <port>', 'port of the page (default: any free port)')
    .action(async options => {
      const { dashboard } = await import('./dashboard.ts')
      await dashboard(options)
    })
}

export function diagnoseCommand(): Command {
  return operated('diagnose', 'Write an archive for a bug report, without secrets')
    .option('-A, --all-namespaces', 'include the workloads of all namespaces')
    .option('--file <file>', 'the archive (default: grove-diagnose-TIME.tar.gz)')
    .action(async options => {
      const { diagnose } = await import('./diagnose.ts')
      await diagnose(options)
    })
}

export function handbackCommand(exit: Exit): Command {
  return operated(
    'handback',
    'Rewrite the hashes of PodCliqueSets to those of the Go operator, so that it restarts no pod',
  )
    .argument(
      '[names...]',
      'PodCliqueSets (default: all of the namespace)',
      (text, names: readonly string[] | undefined) => [...(names ?? []), nameOfSet(text)],
    )
    .option('-A, --all-namespaces', 'all PodCliqueSets of the cluster')
    .option('--yes', 'write; without it the command only prints what it would do')
    .action(async (names, options) => {
      const { handback } = await import('./handback.ts')
      exit(await handback(names, options))
    })
}

function operated(name: string, description: string): Command {
  return live(new Command(name))
    .description(description)
    .option('--operator-namespace <namespace>', 'namespace of the operator', defaultOperatorNamespace)
}
