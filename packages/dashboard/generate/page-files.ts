// SPDX-License-Identifier: Apache-2.0

// Packs the files of the page into a module, so that every program that serves them is one file: the image, the npm
// package and the single executable.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild-wasm'

const root = resolve(import.meta.dirname, '../../..')
const folder = 'packages/dashboard/page'

export async function pageFiles(): Promise<Record<string, string>> {
  const read = (name: string) => readFileSync(join(root, folder, name), 'utf8')
  const assets = {
    '/': asset('text/html; charset=utf-8', read('index.html')),
    '/page.js': asset('text/javascript; charset=utf-8', await script()),
    '/style.css': asset('text/css; charset=utf-8', read('style.css')),
    '/icon.svg': asset('image/svg+xml', read('icon.svg')),
  }
  return { 'packages/dashboard/src/page.generated.ts': moduleOf(assets) }
}

async function script(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [`${folder}/main.ts`],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    // `light-dark()` of the style sheet needs browsers of this age anyway.
    target: ['es2023'],
    minify: true,
    legalComments: 'none',
    logLevel: 'error',
  })
  return outputFiles[0]!.text
}

function asset(type: string, body: string) {
  return { type, body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

function moduleOf(assets: Record<string, ReturnType<typeof asset>>): string {
  return `// SPDX-License-Identifier: Apache-2.0

// Generated from packages/dashboard/page by \`npm run generate\`.

export interface Asset {
  readonly type: string
  readonly body: string
  readonly etag: string
}

/** The files of the page by their path. */
export const assets: Readonly<Partial<Record<string, Asset>>> = ${JSON.stringify(assets, undefined, 2)}
`
}
