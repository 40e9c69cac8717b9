// SPDX-License-Identifier: Apache-2.0

// The long-lived token by which the start-up waiters of a set watch pods. Secrets are read by name, when there is a
// reason to, and never cached or watched: the operator has no business with the others.
import { label, managedLabels, names, type Secret, selectorText } from '@grove/api'
import { isAlreadyExists, isNotFound, type Stored } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { setErrors } from '../errors/catalogue.ts'
import { CodedError } from '../errors/coded-error.ts'
import { keyOf, type ObjectKey } from '../layout/object-key.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import { tokenSecret } from '../objects/identity.ts'
import type { OperatorContext } from '../operator-context.ts'

/** Written by the cluster next to the token. */
const accountUidAnnotation = 'kubernetes.io/service-account.uid'
/** A Secret is not read again within this time: many cliques of one set start together. */
const believedMs = 1_000
/** While cliques wait for a token, the Secret is read after these waits, each twice as long as the one before. */
const firstPollMs = 100
const longestPollMs = 5_000
/** Clusters fill a token in within moments. After this the set reports that it is missing. */
const reportedAfterMs = 10_000
/** Pods that still use the former Secret end at their own time, so reading it more often is of no use. */
const formerLookedAtMs = 60_000

/** Reconciles of others that a token makes possible. */
export interface TokenQueues {
  set(key: ObjectKey, afterMs: number): void
  clique(key: ObjectKey): void
}

/** Cliques of one set that wait for its token. */
interface Wait {
  readonly since: number
  readonly cliques: Set<ObjectKey>
  delayMs: number
  nextAt: number
}

export class TokenSecrets {
  readonly #context: OperatorContext
  readonly #queues: TokenQueues
  /** By the set's UID. Only the set's own reconcile looks for the token then, however many cliques wait. */
  readonly #waits = new Map<string, Wait>()
  /** Being read, by the set's UID. */
  readonly #looking = new Map<string, Promise<boolean>>()
  /** Sets whose Secret exists, with its service account, by UID. The Secret is created once and never changed. */
  readonly #known = new Map<string, string>()
  /** The Secret of a set as it was last read, and when. */
  readonly #seen = new Map<string, { readonly at: number; readonly isFilled: boolean }>()
  /** Creations in progress, by the set's UID: cliques ask for the Secret while the set's own reconcile creates it. */
  readonly #providing = new Map<string, Promise<void>>()
  /** Sets of former releases whose Secret has another name, and when that was last looked at. */
  readonly #former = new Map<string, number>()

  constructor(context: OperatorContext, queues: TokenQueues) {
    this.#context = context
    this.#queues = queues
    context.caches.sets.onChange(change => {
      if (change.type !== 'delete') return
      const { uid } = change.old.metadata
      this.#known.delete(uid)
      this.#seen.delete(uid)
      this.#former.delete(uid)
      this.#waits.delete(uid)
    })
  }

  /**
   * After the set's account is there: a token for an account that does not exist is thrown away by the cluster. Reads
   * the Secret each time: the operator does not watch Secrets.
   */
  async sync(set: StoredSet, signal: AbortSignal): Promise<void> {
    const { uid } = set.metadata
    if (this.#known.get(uid) !== this.#accountOf(set)) await this.#provide(set, signal)
    else if (!this.#seenLately(uid)) await this.#look(set, signal)
    const lookedAt = this.#former.get(uid)
    if (lookedAt === undefined || this.#context.clock.now() - lookedAt < formerLookedAtMs) return
    if (this.#seenLately(uid)?.isFilled || (await this.#look(set, signal)))
      await this.#removeFormer(set, signal)
  }

  /**
   * Reports whether the pods of a clique that start after others have a token. If not, it enqueues the clique as soon as
   * there is one.
   */
  async isFilledFor(set: StoredSet, clique: ObjectKey, signal: AbortSignal): Promise<boolean> {
    const { uid } = set.metadata
    if (this.#seenLately(uid)?.isFilled) return true
    if (!this.#waits.has(uid) && (await this.#look(set, signal))) return true
    const wait = this.#waits.get(uid) ?? this.#beginWait(set)
    wait.cliques.add(clique)
    return false
  }

  /** Looks for a token that cliques wait for, when it is time to. Returns what to report if they have waited for long. */
  async poll(set: StoredSet, signal: AbortSignal): Promise<CodedError | undefined> {
    const { uid, namespace, name } = set.metadata
    const wait = this.#waits.get(uid)
    if (!wait) return undefined
    const now = this.#context.clock.monotonic()
    try {
      if (now >= wait.nextAt) {
        wait.delayMs = Math.min(2 * wait.delayMs, longestPollMs)
        wait.nextAt = now + wait.delayMs
        if (await this.#look(set, signal)) {
          this.#waits.delete(uid)
          for (const clique of wait.cliques) this.#queues.clique(clique)
          return undefined
        }
      }
    } finally {
      if (this.#waits.has(uid)) this.#queues.set(keyOf(set), Math.max(1, wait.nextAt - now))
    }
    if (now - wait.since < reportedAfterMs || wait.cliques.size === 0) return undefined
    const secret = `${namespace}/${names.tokenSecret(name)}`
    return setErrors.tokenMissing(secret)()
  }

  #beginWait(set: StoredSet): Wait {
    const since = this.#context.clock.monotonic()
    const wait = { since, cliques: new Set<ObjectKey>(), delayMs: firstPollMs, nextAt: since + firstPollMs }
    this.#waits.set(set.metadata.uid, wait)
    this.#queues.set(keyOf(set), firstPollMs)
    return wait
  }

  #look(set: StoredSet, signal: AbortSignal): Promise<boolean> {
    const { uid } = set.metadata
    const underWay = this.#looking.get(uid)
    if (underWay) return underWay
    const looking = this.#lookAlone(set, signal).finally(() => this.#looking.delete(uid))
    this.#looking.set(uid, looking)
    return looking
  }

  /** Reports whether the token exists. Recreates a deleted Secret. */
  async #lookAlone(set: StoredSet, signal: AbortSignal): Promise<boolean> {
    const { name, uid } = set.metadata
    const secret = await this.#read(set, names.tokenSecret(name), signal)
    const isUsable = secret && isOf(set, secret) && isFor(secret, this.#accountOf(set))
    if (!isUsable) await this.#provide(set, signal)
    const isFilled = isUsable === true && Boolean(secret.data?.token)
    this.#seen.set(uid, { at: this.#context.clock.monotonic(), isFilled })
    return isFilled
  }

  #seenLately(uid: string) {
    const seen = this.#seen.get(uid)
    return seen && this.#context.clock.monotonic() - seen.at < believedMs ? seen : undefined
  }

  #accountOf({ metadata: { namespace, name } }: StoredSet): string {
    const account = this.#context.caches.serviceAccounts.get({ namespace, name: names.serviceAccount(name) })
    return account?.metadata.uid ?? ''
  }

  async #provide(set: StoredSet, signal: AbortSignal): Promise<void> {
    const { uid } = set.metadata
    const underWay = this.#providing.get(uid)
    if (underWay) return underWay
    const provided = this.#provideAlone(set, signal).finally(() => this.#providing.delete(uid))
    this.#providing.set(uid, provided)
    return provided
  }

  async #provideAlone(set: StoredSet, signal: AbortSignal): Promise<void> {
    const wanted = tokenSecret(set)
    const account = this.#accountOf(set)
    const isReplaced = this.#known.has(set.metadata.uid)
    try {
      await this.#create(set, wanted, account, signal)
    } catch (error) {
      if (error instanceof CodedError) throw error
      const id = `${set.metadata.namespace}/${wanted.metadata.name}`
      throw setErrors.createSecret(id)(error)
    }
    this.#known.set(set.metadata.uid, account)
    this.#seen.set(set.metadata.uid, { at: this.#context.clock.monotonic(), isFilled: false })
    // The token controller may still delete a Secret of this name for the previous account, and the operator does not
    // watch Secrets. Read it until it holds a token for the present account.
    if (isReplaced && !this.#waits.has(set.metadata.uid)) this.#beginWait(set)
  }

  async #create(set: StoredSet, wanted: Secret, account: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#context.caches
    const { namespace, uid } = set.metadata
    const ref = { namespace, name: wanted.metadata.name }
    // A set that was worked on before has one, most likely.
    let found = set.status?.currentGenerationHash ? await this.#read(set, ref.name, signal) : undefined
    try {
      if (!found) {
        await client.create(resources.secrets, wanted, { signal })
        return
      }
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      found = await this.#read(set, ref.name, signal)
    }
    if (found && !isOf(set, found)) throw setErrors.foreignSecret(`${namespace}/${ref.name}`)()
    // The set is older than this process: another release may have begun it.
    this.#former.set(uid, Number.NEGATIVE_INFINITY)
    if (found && isFor(found, account)) return
    // Of an account that was deleted: the cluster takes it away sooner or later, and its token is void.
    if (found)
      await client.delete(resources.secrets, ref, { signal, preconditions: { uid: found.metadata.uid } })
    await client.create(resources.secrets, wanted, { signal })
  }

  /** Earlier releases used another Secret name. Deletes that Secret when no pod mounts it any more. */
  async #removeFormer(set: StoredSet, signal: AbortSignal): Promise<void> {
    const { namespace, uid } = set.metadata
    const { client } = this.#context.caches
    const name = names.legacyTokenSecret(set.metadata.name)
    this.#former.set(uid, this.#context.clock.now())
    const former = await this.#read(set, name, signal)
    if (former && isControlledBy(former, uid)) {
      if (await this.#isMounted(set, name, signal)) return
      try {
        const preconditions = { uid: former.metadata.uid }
        await client.delete(resources.secrets, { namespace, name }, { signal, preconditions })
      } catch (error) {
        if (!isNotFound(error)) throw setErrors.deleteSecret(name)(error)
      }
    }
    this.#former.delete(uid)
  }

  /** Asked of the API server: what pods mount is not kept in the cache. */
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

/** Reports whether the token controller filled the Secret for this account, or has not filled it yet. */
function isFor(secret: Stored<Secret>, account: string): boolean {
  const filledFor = secret.metadata.annotations?.[accountUidAnnotation]
  return !filledFor || !account || filledFor === account
}

/** A Secret of an earlier set of this name works as well, and is deleted with its account. The operator may not patch it. */
function isOf({ metadata: { uid, name } }: StoredSet, secret: Stored<Secret>): boolean {
  const { ownerReferences, labels } = secret.metadata
  return isControlledBy(secret, uid) || (!ownerReferences?.length && labels?.[label.partOf] === name)
}
