// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'
import { type KubeObject, objectKey } from '../object.ts'
import { type Random, randomUid } from '../random.ts'
import { storages } from '../registry/storages.ts'
import type { UserInfo } from '../server/request.ts'
import type { Store } from '../store/index.ts'
import { openToken, type SigningKey, signToken } from './json-web-token.ts'
import { serviceAccountName, serviceAccountUser } from './service-account-user.ts'
import { findSigningKey, makeSigningKey } from './signing-key.ts'

export const tokenIssuerName = 'https://kubernetes.default.svc.cluster.local'
const legacyIssuerName = 'kubernetes/serviceaccount'

/**
 * The object that a token is bound to, in addition to its service account. The token is invalid after the
 * object is deleted.
 */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node'
  readonly name: string
  readonly uid: string
}

export type Verification =
  | { readonly ok: true; readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly ok: false; readonly error: string }

interface Named {
  readonly metadata: { readonly namespace?: string; readonly name?: string; readonly uid?: string }
}

interface Reference {
  readonly name: string
  readonly uid: string
}

interface BoundClaims {
  readonly namespace: string
  readonly serviceaccount: Reference
  readonly pod?: Reference
  readonly secret?: Reference
  readonly node?: Reference
}

const rejected = (error: string): Verification => ({ ok: false, error })

/** Issues and verifies service account tokens. A token is valid while the objects that it names exist. */
export class ServiceAccountTokens {
  readonly #store: Store
  readonly #clock: Clock
  readonly #random: Random
  #key: SigningKey | undefined

  constructor(from: { readonly store: Store; readonly clock: Clock; readonly random: Random }) {
    this.#store = from.store
    this.#clock = from.clock
    this.#random = from.random
  }

  /** Issues a token with an expiration, for the subresource `serviceaccounts/token`. */
  issueBound(
    account: Named,
    options: {
      readonly audiences: readonly string[]
      readonly expirationSeconds: number
      readonly bound?: readonly BoundObject[]
    },
  ): Promise<string> {
    const { namespace = '', name = '', uid = '' } = account.metadata
    const now = this.#seconds()
    const bound = Object.fromEntries(
      (options.bound ?? []).map(({ kind, ...reference }) => [kind.toLowerCase(), reference]),
    )
    return signToken(this.#signingKey(), {
      aud: options.audiences,
      exp: now + options.expirationSeconds,
      iat: now,
      iss: tokenIssuerName,
      jti: randomUid(this.#random),
      'kubernetes.io': { namespace, ...bound, serviceaccount: { name, uid } },
      nbf: now,
      sub: serviceAccountName(namespace, name),
    })
  }

  /** Issues a token without expiration, for a Secret of type kubernetes.io/service-account-token. */
  readonly issue = async (account: Named, secret: Named): Promise<string> => {
    const { namespace = '', name = '', uid = '' } = account.metadata
    return signToken(this.#signingKey(), {
      iss: legacyIssuerName,
      'kubernetes.io/serviceaccount/namespace': namespace,
      'kubernetes.io/serviceaccount/secret.name': secret.metadata.name,
      'kubernetes.io/serviceaccount/service-account.name': name,
      'kubernetes.io/serviceaccount/service-account.uid': uid,
      sub: serviceAccountName(namespace, name),
    })
  }

  /** Verifies a token for one of the audiences and returns its user. */
  async verify(token: string, audiences: readonly string[] = [tokenIssuerName]): Promise<Verification> {
    this.#key ??= findSigningKey(this.#store)
    const claims = this.#key && (await openToken(this.#key, token))
    if (!claims) return rejected('invalid bearer token')
    if (claims.iss === legacyIssuerName) return this.#verifyLegacy(token, claims, audiences)
    return claims.iss === tokenIssuerName ? this.#verifyBound(claims, audiences) : rejected('invalid issuer')
  }

  #verifyBound(claims: Record<string, unknown>, audiences: readonly string[]): Verification {
    const own = ([] as unknown[]).concat(claims.aud ?? [])
    const shared = audiences.filter(audience => own.includes(audience))
    if (shared.length === 0) return rejected('token audiences are invalid for the target audiences')
    const now = this.#seconds()
    if (Number(claims.exp) <= now) return rejected('service account token has expired')
    if (Number(claims.nbf) > now) return rejected('service account token is not valid yet')
    const bound = claims['kubernetes.io'] as BoundClaims
    const { namespace, serviceaccount, pod, secret, node } = bound
    const broken =
      this.#checkReference('serviceaccounts', namespace, serviceaccount) ??
      this.#checkReference('pods', namespace, pod) ??
      this.#checkReference('secrets', namespace, secret) ??
      // A pod may exist longer than its node, so a token bound to a pod does not check the node.
      (pod ? undefined : this.#checkReference('nodes', '', node))
    if (broken) return rejected(broken)
    const user = serviceAccountUser(namespace, serviceaccount.name, serviceaccount.uid)
    return { ok: true, user: { ...user, extra: extraOf(claims, bound) }, audiences: shared }
  }

  #verifyLegacy(token: string, claims: Record<string, unknown>, audiences: readonly string[]): Verification {
    // Tokens of this type have no audience. They are for the API server alone.
    if (!audiences.includes(tokenIssuerName))
      return rejected('token audiences are invalid for the target audiences')
    const claim = (name: string) => String(claims[`kubernetes.io/serviceaccount/${name}`] ?? '')
    const namespace = claim('namespace')
    const account = { name: claim('service-account.name'), uid: claim('service-account.uid') }
    const broken = this.#checkReference('serviceaccounts', namespace, account)
    if (broken) return rejected(broken)
    const secret = this.#store.get(storages.secrets, objectKey(namespace, claim('secret.name')))
    if (!secret || secret.metadata.deletionTimestamp || decoded(secret.data?.token) !== token)
      return rejected('service account token has been invalidated')
    return {
      ok: true,
      user: serviceAccountUser(namespace, account.name, account.uid),
      audiences: [tokenIssuerName],
    }
  }

  /** Returns the error of a reference; undefined if it is valid or absent. */
  #checkReference(resource: string, namespace: string, reference: Reference | undefined): string | undefined {
    if (!reference) return undefined
    const object: KubeObject | undefined = this.#store.get(resource, objectKey(namespace, reference.name))
    if (!object) return `${resource} "${reference.name}" not found`
    const { uid } = object.metadata
    if (uid !== reference.uid) return `UID (${uid}) does not match claim (${reference.uid})`
    return undefined
  }

  #signingKey(): SigningKey {
    this.#key ??= findSigningKey(this.#store) ?? makeSigningKey(this.#store)
    return this.#key
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000)
  }
}

function extraOf(claims: Record<string, unknown>, { pod, node }: BoundClaims): Record<string, string[]> {
  const field = (name: string) => `authentication.kubernetes.io/${name}`
  return {
    [field('credential-id')]: [`JTI=${String(claims.jti)}`],
    ...(node && { [field('node-name')]: [node.name], ...(node.uid && { [field('node-uid')]: [node.uid] }) }),
    ...(pod && { [field('pod-name')]: [pod.name], [field('pod-uid')]: [pod.uid] }),
  }
}

function decoded(text: string | undefined): string | undefined {
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8')
}
