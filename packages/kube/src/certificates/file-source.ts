// SPDX-License-Identifier: Apache-2.0

// A certificate from two files that another program renews, such as a mounted Secret or cert-manager. Promised: a
// change is seen within `pollMs` even if the file system reports none. Incomplete pairs are never returned. If files
// are missing or invalid, the last valid pair stays. Not promised: that both files change at once; therefore key and
// certificate must match before they are used.
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../clock/index.ts'
import { type Logger, messageOf, silentLogger } from '../log/index.ts'
import { certificateCatalogue, counter, type Registry } from '../metrics/index.ts'
import { type CertificateSource, MemoryCertificateSource } from './source.ts'
import type { KeyPair } from './x509.ts'

/** The kubelet swaps mounted Secrets by symbolic link, which not every file system reports. */
const defaultPollMs = 10_000
/** A writer replaces the two files one after the other. */
const pairDelayMs = 50

export interface FileCertificateSourceOptions {
  readonly certFile: string
  readonly keyFile: string
  readonly clock: Clock
  readonly pollMs?: number
  readonly log?: Logger
  readonly registry?: Registry
}

export class FileCertificateSource implements CertificateSource {
  readonly #options: FileCertificateSourceOptions
  readonly #log: Logger
  readonly #memory = new MemoryCertificateSource()
  readonly #reads
  readonly #errors
  /** The last logged problem, so that it is logged once and not every ten seconds. */
  #reported: string | undefined

  constructor(options: FileCertificateSourceOptions) {
    this.#options = options
    this.#log = (options.log ?? silentLogger).child({ certFile: options.certFile })
    this.#reads = options.registry && counter(options.registry, certificateCatalogue.reads)
    this.#errors = options.registry && counter(options.registry, certificateCatalogue.errors)
  }

  current(): KeyPair | undefined {
    return this.#memory.current()
  }

  onChange(listener: (pair: KeyPair) => void): () => void {
    return this.#memory.onChange(listener)
  }

  /** Reads now and then follows the files until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, certFile, keyFile, pollMs = defaultPollMs } = this.#options
    let trigger = () => {}
    const directories = new Set([dirname(certFile), dirname(keyFile)])
    const watchers = [...directories].flatMap(directory => watchDirectory(directory, () => trigger()))
    while (!signal.aborted) {
      await this.read()
      const changed = new AbortController()
      trigger = () => changed.abort()
      await clock.sleep(pollMs, AbortSignal.any([signal, changed.signal])).catch(() => {})
      if (changed.signal.aborted) await clock.sleep(pairDelayMs, signal).catch(() => {})
    }
    for (const watcher of watchers) watcher.close()
  }

  /** Reads both files once. Returns true if there is a certificate to serve. */
  async read(): Promise<boolean> {
    this.#reads?.inc()
    try {
      const { certFile, keyFile } = this.#options
      const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
      if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
        throw new Error('the key does not match the certificate')
      if (this.current() && this.current()?.cert !== cert) this.#log.info('The certificate was replaced')
      this.#memory.set({ cert, key })
      this.#reported = undefined
    } catch (error) {
      this.#errors?.inc()
      const problem = messageOf(error)
      if (problem !== this.#reported) this.#log.warn('Cannot use the certificate files yet', { problem })
      this.#reported = problem
    }
    return this.current() !== undefined
  }
}

/** Returns undefined if the directory does not exist or cannot be watched. Polling still works then. */
function watchDirectory(directory: string, changed: () => void): FSWatcher[] {
  try {
    return [watch(directory, { persistent: false }, changed).on('error', () => {})]
  } catch {
    return []
  }
}
