// SPDX-License-Identifier: Apache-2.0

import { kinds } from '@grove/api'
import type { KubeObject, LogFields } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { type GangKey, gangNameOf, parseGangKey } from '../layout/gang-key.ts'

/** The fields that identify an object in a log line. */
export function identityOf({ kind, metadata }: KubeObject): LogFields {
  return { kind, namespace: metadata?.namespace, name: metadata?.name, uid: metadata?.uid }
}

/** Like `identityOf`, for a gang that may not exist yet. */
export function gangIdentity(key: GangKey, { sets, gangs }: Pick<Caches, 'sets' | 'gangs'>): LogFields {
  const { namespace, set: setName } = parseGangKey(key)
  const set = sets.get({ namespace, name: setName })
  const name = set && gangNameOf(set, key)
  const uid = name && gangs.get({ namespace, name })?.metadata.uid
  return { kind: kinds.podGang.kind, namespace, name: name ?? key, uid }
}
