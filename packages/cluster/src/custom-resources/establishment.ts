// SPDX-License-Identifier: Apache-2.0

// Serves stored definitions. The deletion of a definition deletes its objects.
import { cloneJson } from '@grove/apimachinery'
import type { ObjectOf } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { storages } from '../registry/storages.ts'
import type {
  ApiextensionsCustomResourceDefinition,
  ApiextensionsCustomResourceDefinitionCondition,
} from '../schema/types.generated.ts'
import { type ServerContext, timestamp } from '../server/context.ts'
import { deleteObject } from '../server/delete.ts'
import { ApiError } from '../server/status.ts'
import { WriteRequest } from '../server/write-request.ts'
import { type Change, objectIn } from '../store/index.ts'
import { customResources, customStorage } from './custom-resource.ts'
import { cleanupFinalizer } from './definition.ts'

const { definitions } = storages

type Definition = ObjectOf<ApiextensionsCustomResourceDefinition>

/** Serves all stored definitions and follows their changes. Returns a function that stops it. */
export function establishDefinitions(context: ServerContext): () => void {
  const establishment = new Establishment(context)
  const stop = context.store.observe(change => establishment.notice(change))
  for (const object of context.store.list(definitions, { prefix: '' }).items) establishment.serve(object)
  return stop
}

class Establishment {
  readonly #context: ServerContext
  /** By name of the definition. */
  readonly #served = new Map<
    string,
    { resources: Resource[]; definition: ApiextensionsCustomResourceDefinition }
  >()
  readonly #terminating = new Map<string, string>()

  constructor(context: ServerContext) {
    this.#context = context
  }

  notice({ resource, type, object }: Change): void {
    const definition = objectIn(definitions, object, resource)
    if (definition) {
      if (type === 'DELETED') this.#withdraw(definition.metadata.name!)
      else this.serve(definition)
    } else if (type === 'DELETED' && this.#terminating.has(resource)) {
      this.#finish(this.#terminating.get(resource)!)
    }
  }

  serve(definition: Definition): void {
    const name = definition.metadata.name!
    if (definition.metadata.deletionTimestamp) {
      this.#terminate(name, definition)
      return
    }
    const known = this.#served.get(name)
    if (known?.definition.spec !== definition.spec) {
      this.#withdraw(name)
      const resources = customResources(definition)
      for (const resource of resources) this.#context.registry.add(resource)
      this.#served.set(name, { resources, definition })
    }
    if (!isEstablished(definition)) this.#markEstablished(definition)
  }

  #withdraw(name: string): void {
    for (const { group, version, plural } of this.#served.get(name)?.resources ?? [])
      this.#context.registry.remove(group, version, plural)
    this.#served.delete(name)
  }

  #markEstablished(definition: Definition): void {
    const draft = cloneJson(definition)
    const now = timestamp(this.#context.clock.now())
    const condition = (
      type: string,
      reason: string,
      message: string,
    ): ApiextensionsCustomResourceDefinitionCondition => ({
      type,
      status: 'True',
      lastTransitionTime: now,
      reason,
      message,
    })
    draft.status = {
      ...definition.status,
      conditions: [
        condition('NamesAccepted', 'NoConflicts', 'no conflicts found'),
        condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
      ],
      acceptedNames: definition.spec?.names,
    }
    this.#context.store.write(definitions, definition.metadata.name!, draft, definition)
  }

  /** Deletes all objects. The definition stays until objects with finalizers are gone too. */
  #terminate(name: string, definition: ApiextensionsCustomResourceDefinition): void {
    const storage = customStorage(definition)
    if (this.#terminating.has(storage)) return
    this.#terminating.set(storage, name)
    const resource = this.#served.get(name)?.resources[0]
    // After the response to the deletion of the definition, as on a real API server.
    queueMicrotask(() => void this.#deleteAll(name, storage, resource))
  }

  async #deleteAll(name: string, storage: string, resource: Resource | undefined): Promise<void> {
    for (const object of this.#context.store.list(storage, { prefix: '' }).items) {
      if (!resource) break
      const request = new WriteRequest({
        resource,
        namespace: object.metadata.namespace ?? '',
        name: object.metadata.name!,
        subresource: '',
        user: { name: 'system:apiserver', groups: ['system:masters'] },
        options: { dryRun: false, fieldManager: '', fieldValidation: 'Ignore', force: undefined },
      })
      try {
        await deleteObject(this.#context, request, { dryRun: false })
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
      }
    }
    this.#finish(name)
  }

  #finish(name: string): void {
    const stored = this.#context.store.get(definitions, name)
    if (!stored) return
    const storage = customStorage(stored)
    if (this.#context.store.count(storage) > 0) return
    this.#terminating.delete(storage)
    const finalizers = (stored.metadata.finalizers ?? []).filter(finalizer => finalizer !== cleanupFinalizer)
    if (finalizers.length === 0) this.#context.store.remove(definitions, name, stored)
    else
      this.#context.store.write(
        definitions,
        name,
        { ...stored, metadata: { ...stored.metadata, finalizers } },
        stored,
      )
  }
}

function isEstablished(definition: ApiextensionsCustomResourceDefinition): boolean {
  return (
    definition.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ??
    false
  )
}
