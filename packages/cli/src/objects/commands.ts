// SPDX-License-Identifier: Apache-2.0

// The verbs of kubectl that nobody can do without, for those who have no kubectl. Words and flags mean the same.
import { Command, Option } from 'commander'
import { live } from '../options.ts'

/** Tells the process how it went. */
export type Exit = (code: number) => void

export function applyCommand(exit: Exit): Command {
  return live(new Command('apply'))
    .description('make the cluster hold what manifests say')
    .requiredOption('-f, --filename <file...>', 'manifests, or folders of them; - reads standard input')
    .option('--server-side', 'refuse to change fields that others own')
    .option('--force-conflicts', 'with --server-side: take those fields over')
    .option('--field-manager <name>', 'who owns the applied fields', 'grove-cli')
    .addOption(dryRun())
    .addOption(form('yaml', 'json', 'name'))
    .action(async options => {
      const { apply } = await import('./apply.ts')
      exit(await apply(options))
    })
}

export function getCommand(exit: Exit): Command {
  return live(new Command('get'))
    .description('show objects, as the server prints them')
    .argument('[what...]', 'TYPE, TYPE NAME…, TYPE/NAME…, TYPE,TYPE')
    .option('-f, --filename <file...>', 'the objects of these manifests; - reads standard input')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-l, --selector <selector>', 'with these labels: a=b,c!=d,e in (f, g)')
    .option('--field-selector <selector>', 'with these fields: status.phase=Running')
    .option('-w, --watch', 'go on with every change')
    .option('--show-labels', 'with their labels')
    .option('--show-managed-fields', 'in YAML and JSON: with the owners of fields')
    .option('--no-headers', 'without the names of columns')
    .option('--ignore-not-found', 'what is not there is no error')
    .addOption(form('wide', 'yaml', 'json', 'name'))
    .action(async (words, options) => {
      const { get } = await import('./get.ts')
      exit(await get(words, options))
    })
}

export function deleteCommand(exit: Exit): Command {
  return live(new Command('delete'))
    .description('take objects away, and wait until they are gone')
    .argument('[what...]', 'TYPE NAME…, TYPE/NAME…, TYPE with -l or --all')
    .option('-f, --filename <file...>', 'the objects of these manifests; - reads standard input')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('-l, --selector <selector>', 'with these labels')
    .option('--all', 'all of that type')
    .addOption(
      new Option('--cascade <how>', 'what becomes of what they own')
        .choices(['background', 'foreground', 'orphan'])
        .preset('background')
        .default('background'),
    )
    .addOption(new Option('--wait <yes>', 'until they are gone').choices(['true', 'false']).default('true'))
    .option('--timeout <seconds>', 'wait no longer than this')
    .option('--grace-period <seconds>', 'time for pods to end by themselves')
    .option('--now', 'a second for pods to end by themselves')
    .option('--ignore-not-found', 'what is not there is no error')
    .addOption(dryRun())
    .addOption(form('name'))
    .action(async (words, options) => {
      const { remove } = await import('./delete.ts')
      exit(await remove(words, options))
    })
}

export function scaleCommand(exit: Exit): Command {
  return live(new Command('scale'))
    .description('set the replicas of sets, scaling groups, cliques and other things that scale')
    .argument('[what...]', 'TYPE NAME…, TYPE/NAME…')
    .requiredOption('--replicas <number>', 'how many there shall be')
    .option('--current-replicas <number>', 'only if there are so many now')
    .option('-f, --filename <file...>', 'the objects of these manifests; - reads standard input')
    .addOption(dryRun())
    .addOption(form('name'))
    .action(async (words, options) => {
      const { scale } = await import('./scale.ts')
      exit(await scale(words, options))
    })
}

export function dryRun(): Option {
  return new Option('--dry-run [where]', 'change nothing')
    .choices(['none', 'client', 'server'])
    .preset('client')
    .default('none')
}

function form(...forms: string[]): Option {
  return new Option('-o, --output <form>', 'how to print (default: a line each)').choices(forms)
}
