// SPDX-License-Identifier: Apache-2.0

import { existsSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import about from '../../package.json' with { type: 'json' }
import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { type ArchiveFile, collect } from '../diagnose/collect.ts'
import { redacted } from '../diagnose/redact.ts'
import { examine } from '../doctor/checks.ts'
import { printLines } from '../terminal/print.ts'
import { observeCluster } from './doctor.ts'

export interface DiagnoseOptions extends ClusterOptions {
  readonly operatorNamespace: string
  readonly allNamespaces?: boolean
  readonly file?: string
}

/** Writes an archive for a bug report, without secrets. */
export async function diagnose(options: DiagnoseOptions): Promise<void> {
  const file = options.file ?? `grove-diagnose-${new Date().toISOString().replace(/[:.]/g, '-')}.tar.gz`
  if (existsSync(file)) throw new CommandError(`${file} exists already; name another file`)
  const files = await withCluster(options, async cluster => {
    const findings = examine(await observeCluster(cluster, options))
    const collected = await collect(cluster.client, {
      operatorNamespace: options.operatorNamespace,
      ...(!options.allNamespaces && { namespace: cluster.namespace }),
    })
    const doctor = JSON.stringify(
      redacted({ grove: about.version, node: process.version, findings }),
      null,
      2,
    )
    return [{ name: 'doctor.json', text: `${doctor}\n` }, ...collected]
  })
  // Objects of a cluster are for its user only.
  const archive = gzipSync(await archiveOf(files))
  try {
    writeFileSync(file, archive, { mode: 0o600 })
  } catch (error) {
    throw new CommandError(`cannot write the archive: ${(error as Error).message}; name another --file`)
  }
  const failures = files.find(({ name }) => name === 'failures.txt')?.text.split('\n').length ?? 1
  printLines([
    `${file} contains ${files.length} files. Values of environment variables, tokens and passwords are removed.`,
    'Look through it before you share it: it contains names of objects, images and nodes, and logs of the operator.',
    ...(failures > 1 ? [`${failures - 1} requests failed; failures.txt lists them.`] : []),
  ])
}

/** All entries have the same time, so that an archive of the same state has the same bytes. */
async function archiveOf(files: readonly ArchiveFile[]): Promise<Uint8Array> {
  return packTar(
    files.map(({ name, text }) => ({
      header: {
        name: `grove-diagnose/${name}`,
        size: Buffer.byteLength(text),
        mode: 0o600,
        mtime: new Date(0),
      },
      body: text,
    })),
  )
}
