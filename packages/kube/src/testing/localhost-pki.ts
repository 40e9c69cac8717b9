// SPDX-License-Identifier: Apache-2.0

// An authority, and its certificate for a server called localhost.
import { createAuthority } from '../certificates/authority.ts'
import type { KeyPair } from '../certificates/x509.ts'

export interface LocalhostPki {
  readonly authority: KeyPair
  readonly server: KeyPair
}

export function newPki(): LocalhostPki {
  const authority = createAuthority('test CA')
  return { authority: authority.pair, server: authority.server('localhost', ['localhost']) }
}
