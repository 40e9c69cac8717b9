// SPDX-License-Identifier: Apache-2.0

// The most used kubectl commands, for users without kubectl. Arguments and flags have the same meaning.
import { Command, InvalidArgumentError, Option } from 'commander'
import { type Exit, live } from '../commands/options.ts'

export function applyCommand(exit: Exit): Command {
  return live(new Command('apply'))
    .description('Create or update objects from manifests')
    .requiredOption('-f, --filename <file...>', 'manifests, or folders of them; - reads standard input')
    .option('--server-side', 'fail if another field manager owns a field')
    .option('--force-conflicts', 'with --server-side: take over such fields')
    .option('--field-manager <name>', 'field manager of the applied fields', 'grove-cli')
    .addOption(dryRun())
    .addOption(form('yaml', 'json', 'name', ...jsonPathForms))
    .action(async options => {
      const { apply } = await import('./apply.ts')
      exit(await apply(options))
    })
}

export function getCommand(exit: Exit): Command {
  return live(new Command('get'))
    .description('List objects, as kubectl get does')
    .argument('[resource...]', 'TYPE, TYPE NAME…, TYPE/NAME…, TYPE,TYPE')
    .option('-f, --filename <file...>', 'select the objects of these manifests; - reads standard input')
    .option('-A, --all-namespaces', 'select objects in all namespaces')
    .option('-l, --selector <selector>', 'select by labels: a=b,c!=d,e in (f, g)')
    .option('--field-selector <selector>', 'select by fields: status.phase=Running')
    .option('-w, --watch', 'print every change')
    .option('--show-labels', 'print labels')
    .option('--show-managed-fields', 'in YAML and JSON: print managedFields')
    .option('--no-headers', 'do not print column headers')
    .option('--ignore-not-found', 'do not fail if an object does not exist')
    .option('--sort-by <path>', 'sort by a field, such as .metadata.creationTimestamp')
    .addOption(form('wide', 'yaml', 'json', 'name', ...jsonPathForms, ...columnForms))
    .action(async (args, options) => {
      const { get } = await import('./get.ts')
      exit(await get(args, options))
    })
}

export function deleteCommand(exit: Exit): Command {
  return live(new Command('delete'))
    .description('Delete objects, and wait until they are deleted')
    .argument('[resource...]', 'TYPE NAME…, TYPE/NAME…, TYPE with -l or --all')
    .option('-f, --filename <file...>', 'select the objects of these manifests; - reads standard input')
    .option('-A, --all-namespaces', 'select objects in all namespaces')
    .option('-l, --selector <selector>', 'select by labels')
    .option('--all', 'select all objects of the type')
    .addOption(
      new Option('--cascade <how>', 'deletion of dependent objects')
        .choices(['background', 'foreground', 'orphan'])
        .preset('background')
        .default('background'),
    )
    .addOption(
      new Option('--wait <bool>', 'wait until the objects are deleted')
        .choices(['true', 'false'])
        .default('true'),
    )
    .option('--timeout <duration>', 'maximum time to wait, such as 90 or 5m')
    .option('--grace-period <seconds>', 'grace period of pods')
    .option('--now', 'set the grace period of pods to one second')
    .option('--ignore-not-found', 'do not fail if an object does not exist')
    .addOption(dryRun())
    .addOption(form('name'))
    .action(async (args, options) => {
      const { remove } = await import('./delete.ts')
      exit(await remove(args, options))
    })
}

export function scaleCommand(exit: Exit): Command {
  return live(new Command('scale'))
    .description('Set the replicas of sets, scaling groups, cliques and other scalable resources')
    .argument('[resource...]', 'TYPE NAME…, TYPE/NAME…')
    .requiredOption('--replicas <number>', 'new number of replicas')
    .option('--current-replicas <number>', 'precondition: current number of replicas')
    .option('-f, --filename <file...>', 'select the objects of these manifests; - reads standard input')
    .addOption(dryRun())
    .addOption(form('name'))
    .action(async (args, options) => {
      const { scale } = await import('./scale.ts')
      exit(await scale(args, options))
    })
}

export function dryRun(): Option {
  return new Option('--dry-run [where]', 'do not change anything')
    .choices(['none', 'client', 'server'])
    .preset('client')
    .default('none')
}

const jsonPathForms = ['jsonpath=TEMPLATE', 'jsonpath-as-json=TEMPLATE', 'jsonpath-file=FILE']
const columnForms = ['custom-columns=HEADER:PATH,…', 'custom-columns-file=FILE']

/** A form with an equals sign takes a value after it. */
function form(...forms: string[]): Option {
  const option = new Option('-o, --output <format>', 'output format (default: one line per object)')
  const allowed = new Set(forms.map(nameOfForm))
  option.choices(forms).argParser(text => {
    if (allowed.has(nameOfForm(text))) return text
    throw new InvalidArgumentError(`Allowed choices are ${forms.join(', ')}.`)
  })
  return option
}

function nameOfForm(form: string): string {
  return form.split('=', 1)[0]!
}
