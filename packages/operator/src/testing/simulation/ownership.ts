// SPDX-License-Identifier: Apache-2.0

// Checks every write of the operator in every simulation. A patch or a delete names the UID of its object. A delete by
// label includes no object of another owner.
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '../../caches/resources.ts'
import type { SimulatedApi, Write } from './api.ts'

const owners = [
  resources.podCliqueSets,
  resources.podCliqueScalingGroups,
  resources.podCliques,
] as unknown as readonly Resource[]

export class OwnershipCheck {
  readonly #api: SimulatedApi
  /** UIDs of the set's objects, including deleted ones, because their pods exist longer. */
  readonly #own = new Set<string>()

  constructor(api: SimulatedApi) {
    this.#api = api
  }

  /** Call this before the write. */
  look(write: Write): void {
    const { verb, resource, objects, uid, isCollection } = write
    if (verb === 'create') return
    const what = `${verb} ${resource} ${objects.map(({ metadata }) => metadata.name).join(' ')}`
    if (verb === 'delete' && isCollection) {
      const foreign = objects.filter(object => !this.#isOwn(object))
      if (foreign.length)
        throw new Error(`${what}: controlled by another owner: ${foreign[0]!.metadata.name}`)
    } else if (uid === undefined) throw new Error(`${what}: the request names no UID`)
  }

  #isOwn(object: Stored<KubeObject>): boolean {
    const { uid, ownerReferences } = object.metadata
    const controller = ownerReferences?.find(owner => owner.controller)
    const isOwn =
      object.kind === 'PodCliqueSet' || (controller !== undefined && this.#isOfSet(controller.uid))
    if (isOwn) this.#own.add(uid)
    return isOwn
  }

  #isOfSet(uid: string): boolean {
    if (this.#own.has(uid)) return true
    const stored = owners
      .flatMap(resource => this.#api.list(resource))
      .find(({ metadata }) => metadata.uid === uid)
    return stored !== undefined && this.#isOwn(stored)
  }
}
