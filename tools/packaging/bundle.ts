// SPDX-License-Identifier: Apache-2.0

// `npm run bundle` writes the programs of the images into dist/: single JavaScript files without node_modules. The same
// sources yield the same bytes, on every machine: esbuild is a WebAssembly module of a locked version, and no path,
// time or random value is part of its output.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type BuildOptions, build, type Metafile } from 'esbuild-wasm'
import { readArguments } from '../arguments.ts'

export const root = resolve(import.meta.dirname, '../..')

const usage = `Usage: npm run bundle [-- --out FOLDER]

Writes the programs of the images into a folder each: operator, waiter, installer. Default folder: dist/.`

/** The files of each image, with the module that each of them is bundled from. */
export const images: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  operator: {
    'operator.mjs': 'packages/operator/src/main.ts',
    // The operator starts both and looks for them in its own folder.
    'review-process.mjs': 'packages/operator/src/admission/review-process.ts',
    'placement-process.mjs': 'packages/operator/src/admission/placement-process.ts',
    // The Deployment of the gang scheduler runs it from this image.
    'scheduler.mjs': 'packages/scheduler/src/main.ts',
    // The Deployment of the web dashboard runs it from this image.
    'dashboard.mjs': 'packages/dashboard/src/main.ts',
    // The init container of the chart runs it from this image.
    'install-crds.mjs': 'packages/installer/src/main.ts',
  },
  waiter: { 'waiter.mjs': 'packages/waiter/src/main.ts' },
  installer: { 'install-crds.mjs': 'packages/installer/src/main.ts' },
}

/** Packages in CommonJS form call it, also for modules of Node. */
export const requireBanner =
  "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n"

export interface Bundle {
  readonly code: string
  /** Names of the packages from node_modules that are part of the code. */
  readonly packages: readonly string[]
}

/** Identifiers are not minified: stack traces in logs remain readable. */
export const buildOptions = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  metafile: true,
  platform: 'node',
  target: 'node24',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'error',
} as const satisfies BuildOptions

export async function bundle(entry: string): Promise<Bundle> {
  const { outputFiles, metafile } = await build({ ...buildOptions, entryPoints: [entry], format: 'esm' })
  const packages = packagesAmong(metafile)
  const code = outputFiles[0]!.text
  const needsRequire = packages.length > 0
  return {
    code: `// SPDX-License-Identifier: Apache-2.0\n${needsRequire ? requireBanner : ''}${code}`,
    packages,
  }
}

/** The names of the packages from node_modules that are part of a bundle. */
export function packagesAmong({ inputs }: Metafile): string[] {
  const names = Object.keys(inputs).flatMap(
    path => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  )
  return [...new Set(names)].sort()
}

/** Writes all programs below the folder and returns their sizes by path. */
export async function writeBundles(folder: string): Promise<ReadonlyMap<string, number>> {
  rmSync(folder, { recursive: true, force: true })
  const sizes = new Map<string, number>()
  const made = new Map<string, Bundle>()
  for (const [image, files] of Object.entries(images)) {
    const packages = new Set<string>()
    for (const [file, entry] of Object.entries(files)) {
      const { code, packages: used } = made.get(entry) ?? (await bundle(entry))
      made.set(entry, { code, packages: used })
      write(join(folder, image, file), code)
      sizes.set(join(image, file), Buffer.byteLength(code))
      for (const name of used) packages.add(name)
    }
    write(join(folder, image, 'LICENSES.txt'), licences([...packages].sort()))
  }
  return sizes
}

/** The licences require that their texts are distributed with the code. */
export function licences(packages: readonly string[]): string {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8')
  const others = packages.map(name => {
    const folder = join(root, 'node_modules', name)
    const file = readdirSync(folder).find(entry => /^licen[cs]e/i.test(entry))
    if (!file) throw new Error(`the package ${name} has no licence file`)
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
    return `${'='.repeat(80)}\n${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  })
  return [own, ...others].join('\n')
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

if (import.meta.main || process.argv[1] === import.meta.filename) {
  const { values } = readArguments(usage, { options: { out: { type: 'string' } } })
  const folder = resolve(values.out ?? join(root, 'dist'))
  for (const [path, bytes] of await writeBundles(folder))
    console.log(`${path} ${(bytes / 1024).toFixed(0)} KiB`)
}
