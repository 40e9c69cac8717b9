// SPDX-License-Identifier: Apache-2.0

// `npm run executable` writes `grove` as a single executable for this platform: Node with the bundled command inside.
// The file also works as the kubectl plugin `kubectl-grove`.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { build } from 'esbuild-wasm'
import type { Release } from '../../packages/cli/src/install/release.ts'
import { readArguments } from '../arguments.ts'
import { buildOptions, root } from './bundle.ts'
import { releaseDefinition, releaseOf, releaseOptions } from './release-arguments.ts'

const usage = `Usage: npm run executable [-- --out FILE] [--node FILE] [--registry REGISTRY --version VERSION]

Writes the grove command as a single executable for this platform. Default file: dist/grove. --node names the Node binary
to put it into; default: the one that runs this command. With a registry and a version, \`grove manifests\` names the images
of that release.`

/** Validated while the program is compiled, so that the functions for it are part of the compiled code. */
const sampleManifest = join(root, 'playground/disaggregated/podcliqueset.yaml')

/**
 * Node looks for the program under this name if the fuse in its binary is set. Both are part of Node's documentation.
 */
const resource = 'NODE_SEA_BLOB'
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

export interface ExecutableOptions {
  /** The Node binary that the program is put into. Default: the one that runs this process. */
  readonly node?: string | undefined
  readonly release?: Release | undefined
}

export async function writeExecutable(
  file: string,
  { node = process.execPath, release }: ExecutableOptions = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'grove-executable-'))
  try {
    const program = join(folder, 'grove.cjs')
    const compiled = join(folder, 'grove.compiled')
    writeFileSync(
      program,
      `(function (require, module, exports, __filename, __dirname) {${await commonJsBundle(release)}\n})`,
    )
    // The same binary compiles the program: compiled code is valid for one version of Node only.
    execFileSync(node, [join(root, 'tools/packaging/compile.cjs'), program, compiled, sampleManifest], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    const blob = join(folder, 'grove.blob')
    const configuration = {
      main: join(root, 'tools/packaging/executable-main.cjs'),
      output: blob,
      disableExperimentalSEAWarning: true,
      assets: {
        'grove.cjs': program,
        'grove.compiled': compiled,
        ...Object.fromEntries(playgroundFiles().map(path => [path.replaceAll('\\', '/'), join(root, path)])),
      },
    }
    writeFileSync(join(folder, 'configuration.json'), JSON.stringify(configuration))
    execFileSync(node, ['--experimental-sea-config', join(folder, 'configuration.json')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    mkdirSync(dirname(file), { recursive: true })
    copyFileSync(node, file)
    chmodSync(file, 0o755)
    injectBlob(file, blob)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** As a process: its library has no types, and writes warnings about unnamed sections of every Node binary. */
function injectBlob(file: string, blob: string): void {
  const program = join(root, 'node_modules/postject/dist/cli.js')
  const args = [program, file, resource, blob, '--sentinel-fuse', fuse]
  if (process.platform === 'darwin') args.push('--macho-segment-name', 'NODE_SEA')
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`postject failed for ${file}:\n${stdout}${stderr}`)
}

/** Node requires CommonJS here. */
async function commonJsBundle(release: Release | undefined): Promise<string> {
  const { outputFiles } = await build({
    ...buildOptions,
    entryPoints: ['packages/cli/src/main.ts'],
    format: 'cjs',
    define: {
      'import.meta.filename': '__filename',
      'import.meta.dirname': '__dirname',
      'import.meta.url': 'moduleUrl',
      ...releaseDefinition(release),
    },
    banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href" },
  })
  return outputFiles[0]!.text
}

function playgroundFiles(): string[] {
  return readdirSync(join(root, 'playground'), { recursive: true, encoding: 'utf8' })
    .map(path => join('playground', path))
    .filter(path => statSync(join(root, path)).isFile())
    .sort()
}

if (import.meta.main || process.argv[1] === import.meta.filename) {
  const { values } = readArguments(usage, {
    options: { out: { type: 'string' }, node: { type: 'string' }, ...releaseOptions },
  })
  const file = resolve(values.out ?? join(root, 'dist', process.platform === 'win32' ? 'grove.exe' : 'grove'))
  await writeExecutable(file, { node: values.node, release: releaseOf(values, usage) })
  console.log(`${file} ${(statSync(file).size / 2 ** 20).toFixed(0)} MiB`)
}
