// SPDX-License-Identifier: Apache-2.0

import type { TlsMaterial } from '../client/cluster-config.ts'
import type { Clock } from '../clock/index.ts'
import { PolledFile } from './polled-file.ts'

/** Text (decoded from the base64 of a kubeconfig), or a file that may be replaced. Text takes precedence. */
export interface PemSource {
  readonly text?: string
  readonly file?: string
}

export interface TlsSources {
  readonly ca?: PemSource
  readonly certificate?: PemSource
  readonly key?: PemSource
  readonly serverName?: string
  readonly insecureSkipVerify?: boolean
}

/** TLS material that follows its files. Notifies listeners when the client certificate or key changes. */
export class TlsFiles {
  readonly #sources: TlsSources
  readonly #files: readonly [PolledFile | undefined, PolledFile | undefined, PolledFile | undefined]
  readonly #listeners: (() => void)[] = []
  #material: TlsMaterial | undefined

  constructor(sources: TlsSources, clock: Clock) {
    this.#sources = sources
    const open = (source?: PemSource) =>
      source?.file && !source.text ? new PolledFile(source.file, clock) : undefined
    this.#files = [open(sources.ca), open(sources.certificate), open(sources.key)]
  }

  onCertificateChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Returns the current material; the same object as long as nothing has changed. */
  current(): TlsMaterial {
    const { ca, certificate, key, serverName, insecureSkipVerify } = this.#sources
    const [caFile, certificateFile, keyFile] = this.#files
    const now: TlsMaterial = {
      ca: caFile ? caFile.read() : ca?.text,
      certificate: certificateFile ? certificateFile.read() : certificate?.text,
      key: keyFile ? keyFile.read() : key?.text,
      serverName,
      insecureSkipVerify,
    }
    const before = this.#material
    if (before && sameCertificate(before, now) && before.ca === now.ca) return before
    this.#material = now
    if (before && !sameCertificate(before, now)) for (const listener of this.#listeners) listener()
    return now
  }

  /** Reads the client certificate again now. Returns true if it has changed. */
  refreshCertificate(): boolean {
    const [, certificate, key] = this.#files
    const changed = [certificate?.refresh() ?? false, key?.refresh() ?? false]
    this.current()
    return changed.includes(true)
  }
}

function sameCertificate(a: TlsMaterial, b: TlsMaterial): boolean {
  return a.certificate === b.certificate && a.key === b.key
}
