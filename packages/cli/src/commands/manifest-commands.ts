// SPDX-License-Identifier: Apache-2.0

// Commands that read manifests and need no cluster. Each loads its code on demand, because the schemas of one slow down
// the others.
import { Command } from 'commander'
import { type Exit, output } from './options.ts'

export function validateCommand(exit: Exit): Command {
  return new Command('validate')
    .description('Validate manifests as admission would, without a cluster')
    .requiredOption(
      '-f, --filename <file...>',
      'manifests or AdmissionReviews, or folders of them; - reads standard input',
    )
    .option('--old <file>', 'stored objects: validate an update of them')
    .option('--config <file>', 'operator configuration (default: the built-in one)')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { validate } = await import('./validate.ts')
      exit(await validate(options))
    })
}

export function crdsCommand(): Command {
  return new Command('crds')
    .description('Print the custom resource definitions')
    .addOption(output('yaml', 'json'))
    .action(async options => {
      const { crds } = await import('./crds.ts')
      crds(options)
    })
}

export function manifestsCommand(): Command {
  return new Command('manifests')
    .description(
      'Print the objects that install the operator, equal to those of the Helm chart with default values',
    )
    .option('-n, --namespace <namespace>', 'namespace of the operator (default: grove-system)')
    .option('--create-namespace', 'print the namespace as well')
    .option('--image <image>', 'image of the operator with its tag (default: that of the release)')
    .option(
      '--waiter-image <image>',
      'image of the startup waiter without a tag (default: that of the release)',
    )
    .addOption(output('yaml', 'json'))
    .action(async options => {
      const { manifests } = await import('./manifests.ts')
      manifests(options)
    })
}

export function hashCommand(): Command {
  return new Command('hash')
    .description('Print the revision hash of every clique and of the whole set')
    .requiredOption(
      '-f, --filename <file...>',
      'PodCliqueSet manifests and the objects they refer to, or folders; - reads standard input',
    )
    .option('--config <file>', 'operator configuration (default: the built-in one)')
    .option('--legacy', 'print the hash that the Go-based operator stores')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { hash } = await import('./hash.ts')
      await hash(options)
    })
}

export function renderCommand(): Command {
  return new Command('render')
    .description('Print every object that the operator would create for a set')
    .requiredOption(
      '-f, --filename <file...>',
      'PodCliqueSet manifests and the objects they refer to; - reads standard input',
    )
    .option('--config <file>', 'operator configuration (default: the built-in one)')
    .addOption(output('yaml', 'json'))
    .action(async options => {
      const { render } = await import('./render.ts')
      await render(options)
    })
}

export function impactCommand(exit: Exit): Command {
  return new Command('impact')
    .description('Show which pods an edit would restart, and the fields that cause it')
    .requiredOption('--old <file>', 'current PodCliqueSet')
    .requiredOption('-f, --filename <file>', 'edited PodCliqueSet')
    .option('--exit-code', 'exit with 1 if pods restart')
    .addOption(output('text', 'json'))
    .action(async options => {
      const { impact } = await import('./impact.ts')
      exit(await impact(options))
    })
}
