// SPDX-License-Identifier: Apache-2.0

import type { KeyPair } from './x509.ts'

/** The certificate that a server presents, with notification of changes. */
export interface CertificateSource {
  /** Undefined until there is one. */
  current(): KeyPair | undefined
  /** Calls the listener for every change. Returns a function that removes the listener. */
  onChange(listener: (pair: KeyPair) => void): () => void
}

/** A certificate that the program sets. */
export class MemoryCertificateSource implements CertificateSource {
  #pair: KeyPair | undefined
  readonly #listeners = new Set<(pair: KeyPair) => void>()

  current(): KeyPair | undefined {
    return this.#pair
  }

  onChange(listener: (pair: KeyPair) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  set(pair: KeyPair): void {
    if (pair.cert === this.#pair?.cert && pair.key === this.#pair.key) return
    this.#pair = pair
    for (const listener of this.#listeners) listener(pair)
  }
}
