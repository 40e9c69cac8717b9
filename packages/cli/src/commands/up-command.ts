// SPDX-License-Identifier: Apache-2.0

import { Command } from 'commander'
import type { Exit } from './options.ts'
import { workloads } from './up/playground.ts'

export function upCommand(exit: Exit): Command {
  return new Command('up')
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
      const { up } = await import('./up.ts')
      exit(await up(options))
    })
}
