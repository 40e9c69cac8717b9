// SPDX-License-Identifier: Apache-2.0

// The long-lived token with which the startup waiters of a set watch pods. The operator reads Secrets by name and only
// when necessary. It never caches or watches them, because it must not see other Secrets. `planToken` decides about the
// writes; this file executes them and schedules reads.
import { label, managedLabels, names, type Secret, selectorText } from '@grove/api'
import type { Stored } from '@grove/kube'
import { executeInOrder } from '../apply/execute.ts'
import type { Create, Intent } from '../apply/intent.ts'
import { resources } from '../caches/resources.ts'
import { setErrors } from '../errors/catalogue.ts'
import { CodedError, throwIfAny } from '../errors/coded-error.ts'
import { type CliqueKey, type SetKey, setKey } from '../layout/object-key.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { TokenState, TokenWait } from '../memory/memory.ts'
import { tokenSecret } from '../objects/identity.ts'
import type { OperatorContext } from '../operator-context.ts'
import {
  firstTokenPollMs,
  formerTokenCheckMs,
  longestTokenPollMs,
  missingTokenReportedAfterMs,
  tokenReadValidMs,
} from '../timings/timings.ts'

/** The cluster writes it together with the token. */
const accountUidAnnotation = 'kubernetes.io/service-account.uid'

/** Enqueues sets for the next read of their Secret, and cliques whose token exists. */
export interface TokenQueues {
  set(key: SetKey, afterMs: number): void
  clique(key: CliqueKey): void
}

export class TokenSecrets {
  readonly #context: OperatorContext
  readonly #queues: TokenQueues

  constructor(context: OperatorContext, queues: TokenQueues) {
    this.#context = context
    this.#queues = queues
  }

  /**
   * Call this after the set's account exists: the cluster deletes a token for a missing account. Reads the Secret each
   * time, because the operator does not watch Secrets.
   */
  async sync(set: StoredSet, signal: AbortSignal): Promise<void> {
    const state = this.#stateOf(set)
    if (state.account !== this.#accountOf(set)) await this.#ensureSecret(set, signal)
    else if (!this.#recentRead(set)) await this.#checkToken(set, signal)
    const checkedAt = state.formerCheckedAt
    if (checkedAt === undefined || this.#context.clock.monotonic() - checkedAt < formerTokenCheckMs) return
    if (this.#recentRead(set)?.isFilled || (await this.#checkToken(set, signal)))
      await this.#removeFormer(set, signal)
  }

  /**
   * Reports whether the token exists for pods with startup dependencies. If not, it enqueues the clique as soon as it
   * does.
   */
  async isFilledFor(set: StoredSet, clique: CliqueKey, signal: AbortSignal): Promise<boolean> {
    if (this.#recentRead(set)?.isFilled) return true
    if (!this.#stateOf(set).wait && (await this.#checkToken(set, signal))) return true
    const wait = this.#stateOf(set).wait ?? this.#beginWait(set)
    wait.cliques.add(clique)
    return false
  }

  /** Reads the token that cliques wait for, if the next read is due. Returns an error if they have waited for long. */
  async poll(set: StoredSet, signal: AbortSignal): Promise<CodedError | undefined> {
    const { namespace, name } = set.metadata
    const state = this.#stateOf(set)
    const { wait } = state
    if (!wait) return undefined
    const now = this.#context.clock.monotonic()
    try {
      if (now >= wait.nextAt) {
        wait.delayMs = Math.min(2 * wait.delayMs, longestTokenPollMs)
        wait.nextAt = now + wait.delayMs
        if (await this.#checkToken(set, signal)) {
          state.wait = undefined
          for (const clique of wait.cliques) this.#queues.clique(clique)
          return undefined
        }
      }
    } finally {
      if (state.wait) this.#queues.set(setKey(set.metadata), Math.max(1, wait.nextAt - now))
    }
    if (now - wait.since < missingTokenReportedAfterMs || wait.cliques.size === 0) return undefined
    const secret = `${namespace}/${names.tokenSecret(name)}`
    return setErrors.tokenMissing(secret)()
  }

  #beginWait(set: StoredSet): TokenWait {
    const since = this.#context.clock.monotonic()
    const wait = {
      since,
      cliques: new Set<CliqueKey>(),
      delayMs: firstTokenPollMs,
      nextAt: since + firstTokenPollMs,
    }
    this.#stateOf(set).wait = wait
    this.#queues.set(setKey(set.metadata), firstTokenPollMs)
    return wait
  }

  /** Reports whether the token exists. Callers share one read that is in flight. */
  #checkToken(set: StoredSet, signal: AbortSignal): Promise<boolean> {
    const state = this.#stateOf(set)
    state.reading ??= this.#readToken(set, signal).finally(() => {
      state.reading = undefined
    })
    return state.reading
  }

  /** Recreates a deleted Secret. */
  async #readToken(set: StoredSet, signal: AbortSignal): Promise<boolean> {
    const { name } = set.metadata
    const secret = await this.#read(set, names.tokenSecret(name), signal)
    const isUsable = secret && isOf(set, secret) && isFor(secret, this.#accountOf(set))
    if (!isUsable) await this.#ensureSecret(set, signal)
    const isFilled = isUsable === true && Boolean(secret.data?.token)
    this.#stateOf(set).read = { at: this.#context.clock.monotonic(), isFilled }
    return isFilled
  }

  #stateOf(set: StoredSet): TokenState {
    return this.#context.memory.tokens.getOrAdd(set, () => ({}))
  }

  #recentRead(set: StoredSet): TokenState['read'] {
    const { read } = this.#stateOf(set)
    return read && this.#context.clock.monotonic() - read.at < tokenReadValidMs ? read : undefined
  }

  #accountOf({ metadata: { namespace, name } }: StoredSet): string {
    const account = this.#context.caches.serviceAccounts.get({ namespace, name: names.serviceAccount(name) })
    return account?.metadata.uid ?? ''
  }

  /** Creates the Secret, or replaces that of a deleted account. Callers share one write that is in flight. */
  async #ensureSecret(set: StoredSet, signal: AbortSignal): Promise<void> {
    const state = this.#stateOf(set)
    state.providing ??= this.#writeSecret(set, signal).finally(() => {
      state.providing = undefined
    })
    return state.providing
  }

  async #writeSecret(set: StoredSet, signal: AbortSignal): Promise<void> {
    const { namespace, name } = set.metadata
    const account = this.#accountOf(set)
    const state = this.#stateOf(set)
    const isReplaced = state.account !== undefined
    // A set that was reconciled before most likely has a Secret.
    const known = set.status?.currentGenerationHash
      ? await this.#read(set, names.tokenSecret(name), signal)
      : undefined
    const execute = (found: Stored<Secret> | undefined) =>
      executeInOrder(planToken(set, found, account), this.#context, { signal })
    let failures = await execute(known)
    const taken = failures.find(failure => failure instanceof SecretExists)
    if (taken) failures = await execute(taken.secret)
    const failed = setErrors.createSecret(`${namespace}/${names.tokenSecret(name)}`)
    throwIfAny(failures.map(failure => (failure instanceof CodedError ? failure : failed(failure))))
    // The set is older than this process, so an earlier release may have created its Secret.
    if (known || taken) state.formerCheckedAt = Number.NEGATIVE_INFINITY
    state.account = account
    state.read = { at: this.#context.clock.monotonic(), isFilled: false }
    // The token controller may still delete a Secret of this name for the previous account, and the operator does not
    // watch Secrets. Read it until it holds a token for the present account.
    if (isReplaced && !state.wait) this.#beginWait(set)
  }

  /** Earlier releases used another Secret name. Deletes that Secret when no pod mounts it any more. */
  async #removeFormer(set: StoredSet, signal: AbortSignal): Promise<void> {
    const { uid } = set.metadata
    const name = names.legacyTokenSecret(set.metadata.name)
    const state = this.#stateOf(set)
    state.formerCheckedAt = this.#context.clock.monotonic()
    const former = await this.#read(set, name, signal)
    if (former && isControlledBy(former, uid)) {
      if (await this.#isMounted(set, name, signal)) return
      const deletion: Intent = { kind: 'delete', resource: resources.secrets, object: former }
      const intent = { ...deletion, error: setErrors.deleteSecret(name) }
      throwIfAny(await executeInOrder([[intent]], this.#context, { signal }))
    }
    state.formerCheckedAt = undefined
  }

  /** Reads from the API server, because the cache does not keep the volumes of pods. */
  async #isMounted({ metadata }: StoredSet, secret: string, signal: AbortSignal): Promise<boolean> {
    try {
      const { items } = await this.#context.caches.client.list(resources.pods, {
        namespace: metadata.namespace,
        labelSelector: selectorText(managedLabels(metadata.name)),
        signal,
      })
      return items.some(pod => pod.spec?.volumes?.some(volume => volume.secret?.secretName === secret))
    } catch (error) {
      throw setErrors.listPods(metadata.name)(error)
    }
  }

  async #read(set: StoredSet, name: string, signal: AbortSignal): Promise<Stored<Secret> | undefined> {
    const { namespace } = set.metadata
    try {
      return await this.#context.caches.client.find(resources.secrets, { namespace, name }, { signal })
    } catch (error) {
      throw setErrors.readSecret(`${namespace}/${name}`)(error)
    }
  }
}

/** A Secret of this name exists, although the operator did not know it. The writes are planned again with it. */
class SecretExists extends Error {
  readonly secret: Stored<Secret>

  constructor(secret: Stored<Secret>) {
    super('a Secret of this name exists')
    this.secret = secret
  }
}

/** The writes that ensure the Secret of a set, in order. Throws if another owner controls an object of this name. */
export function planToken(set: StoredSet, found: Stored<Secret> | undefined, account: string): Intent[][] {
  const wanted = tokenSecret(set)
  const { namespace, uid } = set.metadata
  if (found && !isOf(set, found)) throw setErrors.foreignSecret(`${namespace}/${wanted.metadata.name}`)()
  if (found && isFor(found, account)) return []
  const create: Create<Secret> = {
    kind: 'create',
    resource: resources.secrets,
    object: wanted,
    existing: {
      ownerUid: uid,
      // The next read detects the end of its deletion.
      awaitsDeletion: () => true,
      repair: existing => {
        throw new SecretExists(existing)
      },
      conflict: existing => new SecretExists(existing),
    },
  }
  // It belongs to a deleted account: its token is invalid, and the cluster deletes the Secret eventually.
  return found ? [[{ kind: 'delete', resource: resources.secrets, object: found }], [create]] : [[create]]
}

/** Reports whether the Secret has a token for this account, or no token yet. */
function isFor(secret: Stored<Secret>, account: string): boolean {
  const filledFor = secret.metadata.annotations?.[accountUidAnnotation]
  return !filledFor || !account || filledFor === account
}

/**
 * A Secret of an earlier set of this name works as well, and is deleted with its account. The operator has no
 * permission to patch it.
 */
function isOf({ metadata: { uid, name } }: StoredSet, secret: Stored<Secret>): boolean {
  const { ownerReferences, labels } = secret.metadata
  return isControlledBy(secret, uid) || (!ownerReferences?.length && labels?.[label.partOf] === name)
}
