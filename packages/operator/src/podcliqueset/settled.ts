// SPDX-License-Identifier: Apache-2.0

// Which sets have all their children as they want them. A set of hundreds of replicas is woken by each of them when they
// start; unless something else than a status changed, there is no need to compare every child with what is wanted.
import type { Change, KubeObject } from '@grove/kube'
import { keyOf, type ObjectKey } from '../object-key.ts'
import { sameMeaning } from '../owned-fields.ts'
import { setsOf } from '../wake-ups.ts'
import type { World } from '../world.ts'

export class SettledSets {
  /** Per set, how often something about it or its children changed that is not a status. */
  readonly #changes = new Map<ObjectKey, number>()
  /** Of what belongs to no set, such as topology bindings. */
  #changesOfAll = 0
  /** UID of a set → the number of changes up to which its children were as wanted. */
  readonly #settledAt = new Map<string, number>()

  constructor(world: World) {
    world.sets.onChange(change => {
      if (change.type !== 'delete') return
      this.#settledAt.delete(change.old.metadata.uid)
      this.#changes.delete(keyOf(change.old))
    })
    world.onChangeOfAny((change, isSet) => {
      if (isStatusOnly(change)) return
      if (!(change.new ?? change.old).metadata.namespace) this.#changesOfAll++
      else if (!isSet) for (const key of setsOf(change)) this.#count(key)
      else if (change.new) this.#count(keyOf(change.new))
    })
  }

  /** To be asked before the children are looked at, and to be given to `settle` afterwards. */
  changesOf(key: ObjectKey): number {
    return this.#changesOfAll + (this.#changes.get(key) ?? 0)
  }

  isSettled(uid: string, changes: number): boolean {
    return this.#settledAt.get(uid) === changes
  }

  settle(uid: string, changes: number): void {
    this.#settledAt.set(uid, changes)
  }

  unsettle(uid: string): void {
    this.#settledAt.delete(uid)
  }

  #count(key: ObjectKey): void {
    this.#changes.set(key, (this.#changes.get(key) ?? 0) + 1)
  }
}

function isStatusOnly(change: Change<KubeObject>): boolean {
  if (change.type !== 'update') return false
  const before = change.old.metadata
  const after = change.new.metadata
  return (
    before.generation !== undefined &&
    before.generation === after.generation &&
    before.deletionTimestamp === after.deletionTimestamp &&
    sameMeaning(before.finalizers, after.finalizers) &&
    sameMeaning(before.labels, after.labels) &&
    sameMeaning(before.annotations, after.annotations)
  )
}
