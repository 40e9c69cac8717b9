// SPDX-License-Identifier: Apache-2.0

// Starts a bundled program as its image does, with the same entry point, user and environment. Its files are in a
// read-only folder. It inherits no environment variables from the tests.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeBundles } from '../../../tools/packaging/bundle.ts'
import { type Image, readImage } from './containerfile.ts'

const writable = 0o755
const readOnly = 0o555

/** The root file systems of all images, where they differ. */
export class ImageFiles {
  readonly folder = mkdtempSync(join(tmpdir(), 'grove-images-'))

  async build(): Promise<void> {
    const bundles = join(this.folder, 'dist')
    await writeBundles(bundles)
    for (const target of ['operator', 'waiter', 'installer']) {
      const { copied } = readImage(target)
      const root = join(this.folder, target)
      mkdirSync(root)
      cpSync(join(bundles, copied.from), join(root, copied.to), { recursive: true })
      for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' }))
        chmodSync(join(root, entry), readOnly)
      chmodSync(root, readOnly)
    }
    chmodSync(this.folder, writable)
  }

  /** The command of a container: the entry point unless a command replaces it, then the arguments. */
  spawn(
    target: string,
    container: { readonly command?: readonly string[]; readonly args?: readonly string[] },
    env: Readonly<Record<string, string>>,
  ): ChildProcess {
    const image = readImage(target)
    const args = [...(container.command ?? image.entrypoint), ...(container.args ?? [])]
    const [program = '', ...rest] = args.map(argument => this.#inside(target, image, argument))
    return spawn(program, rest, {
      cwd: join(this.folder, target, image.copied.to),
      env: { ...image.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Only root may become another user. For other users the file modes above apply anyway.
      ...(process.getuid?.() === 0 && image.user),
    })
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** The location of an image path on this machine. */
  #inside(target: string, image: Image, word: string): string {
    if (word === 'node' || word === '/nodejs/bin/node') return process.execPath
    return word.startsWith(`${image.copied.to}`) ? join(this.folder, target, word) : word
  }
}
