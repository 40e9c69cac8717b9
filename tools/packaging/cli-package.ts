// SPDX-License-Identifier: Apache-2.0

// `npm run package` writes the npm package of the `grove` command: JavaScript in a few files without node_modules, the
// playground, and a launcher. It installs without a clone and, if Node is recent enough, without a registry.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild-wasm'
import type { Release } from '../../packages/cli/src/install/release.ts'
import { readArguments } from '../arguments.ts'
import { buildOptions, licences, packagesAmong, requireBanner, root } from './bundle.ts'
import { releaseDefinition, releaseOf, releaseOptions } from './release-arguments.ts'

const usage = `Usage: npm run package [-- --out FOLDER] [--registry REGISTRY --version VERSION]

Writes the npm package of the grove command, as a folder and as a tarball. Default folder: dist/npm. With a registry and a
version, \`grove manifests\` names the images of that release.`

interface Manifest {
  readonly version: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Writes the package and its tarball. Returns the path of the tarball. */
export async function writeCliPackage(folder: string, release?: Release): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  const contents = join(folder, 'package')
  mkdirSync(join(contents, 'lib'), { recursive: true })
  const packages = await writeModules(join(contents, 'lib'), release)
  cpSync(join(root, 'playground'), join(contents, 'playground'), { recursive: true })
  cpSync(join(root, 'tools/packaging/launcher.mjs'), join(contents, 'bin/grove.mjs'))
  cpSync(join(root, 'LICENSE'), join(contents, 'LICENSE'))
  writeFileSync(join(contents, 'LICENSES.txt'), licences(packages))
  writeFileSync(join(contents, 'README.md'), readme)
  writeFileSync(join(contents, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  const printed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder, contents], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
  })
  const [packed] = JSON.parse(printed) as { filename: string }[]
  return join(folder, packed!.filename)
}

/** One module per group of commands, so that a command loads only what it needs. */
async function writeModules(folder: string, release: Release | undefined): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    ...buildOptions,
    entryPoints: { main: 'packages/cli/src/main.ts' },
    format: 'esm',
    splitting: true,
    define: releaseDefinition(release),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    banner: { js: requireBanner },
  })
  for (const { path, text } of outputFiles) writeFileSync(path, text)
  return packagesAmong(metafile)
}

function manifest(): object {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest
  const { version } = read('packages/cli/package.json')
  return {
    name: '@grove/cli',
    version,
    description:
      'grove and kubectl grove: validate, render, plan and inspect PodCliqueSets, or run a cluster',
    license: 'Apache-2.0',
    type: 'module',
    bin: { grove: 'bin/grove.mjs', 'kubectl-grove': 'bin/grove.mjs' },
    // The launcher uses one of them if the installed Node is too old. npm skips those of other platforms.
    optionalDependencies: read('package.json').optionalDependencies,
  }
}

const readme = `# grove

The \`grove\` command, also as \`kubectl grove\`: validate, render, plan and inspect PodCliqueSets, or run a whole cluster with
simulated nodes in one process.

    npx grove up --demo

Node 24 or newer runs it. With an older Node, npm installs a package with the right one.
`

if (import.meta.main || process.argv[1] === import.meta.filename) {
  const { values } = readArguments(usage, { options: { out: { type: 'string' }, ...releaseOptions } })
  console.log(await writeCliPackage(resolve(values.out ?? join(root, 'dist/npm')), releaseOf(values, usage)))
}
