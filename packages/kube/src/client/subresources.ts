// SPDX-License-Identifier: Apache-2.0

// Subresources whose objects have another type than their parent. `status` is an option of update, patch and apply.

import { deleteFields } from './body.ts'
import type { Client } from './client.ts'
import type { ObjectMeta, ObjectRef, StoredMeta } from './object.ts'
import type { DeleteOptions, RequestOptions, WriteOptions } from './options.ts'
import { writeQuery } from './query.ts'
import { objectPath, type ResourceDescriptor, resourceName } from './resource.ts'

const pods: ResourceDescriptor = {
  group: '',
  version: 'v1',
  resource: 'pods',
  kind: 'Pod',
  namespaced: true,
}
const serviceAccounts: ResourceDescriptor = {
  group: '',
  version: 'v1',
  resource: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
}

/** `autoscaling/v1` Scale. */
export interface Scale {
  readonly metadata: StoredMeta
  readonly spec?: { readonly replicas?: number }
  readonly status: { readonly replicas: number; readonly selector?: string }
}

export async function getScale(
  client: Client,
  resource: ResourceDescriptor,
  ref: ObjectRef,
  options?: RequestOptions,
): Promise<Scale> {
  const path = objectPath(resource, ref, 'scale')
  const name = `${resourceName(resource)}/scale`
  return (await client.raw({ verb: 'get', method: 'GET', path, resource: name }, options)) as Scale
}

/** Sets the number of replicas, without a precondition. */
export async function setScale(
  client: Client,
  resource: ResourceDescriptor,
  ref: ObjectRef,
  replicas: number,
  options: WriteOptions = {},
): Promise<Scale> {
  const path = objectPath(resource, ref, 'scale') + writeQuery(options, undefined)
  return (await client.raw(
    {
      verb: 'patch',
      method: 'PATCH',
      path,
      body: { spec: { replicas } },
      contentType: 'application/merge-patch+json',
      resource: `${resourceName(resource)}/scale`,
      idempotent: true,
    },
    options,
  )) as Scale
}

export interface BindOptions extends WriteOptions {
  /** Binds only the pod with this UID. */
  readonly uid?: string
  /** Added to the pod together with the binding. */
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
}

/** Binds a pod to a node. Rejects with `Conflict` if the pod is already bound. */
export async function bindPod(
  client: Client,
  pod: ObjectRef,
  node: string,
  options: BindOptions = {},
): Promise<void> {
  const metadata: ObjectMeta = {
    name: pod.name,
    namespace: pod.namespace,
    uid: options.uid,
    annotations: options.annotations,
    labels: options.labels,
  }
  const body = {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata,
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  }
  await post(client, pods, pod, 'binding', body, options)
}

/**
 * Evicts a pod. Rejects with `TooManyRequests` while a PodDisruptionBudget forbids it. That is a final response, so
 * eviction is tried once unless `attempts` is set.
 */
export async function evictPod(client: Client, pod: ObjectRef, options: DeleteOptions = {}): Promise<void> {
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: pod.name, namespace: pod.namespace },
    deleteOptions: deleteFields(options),
  }
  await post(client, pods, pod, 'eviction', body, { attempts: 1, ...options })
}

export interface TokenOptions extends RequestOptions {
  readonly audiences?: readonly string[]
  readonly expirationSeconds?: number
  /** The token becomes invalid when this object is deleted. */
  readonly boundObject?: {
    readonly apiVersion: string
    readonly kind: string
    readonly name: string
    readonly uid?: string
  }
}

export interface Token {
  readonly token: string
  readonly expirationTimestamp: string
}

/** Requests a new token of a service account. */
export async function requestToken(
  client: Client,
  serviceAccount: ObjectRef,
  options: TokenOptions = {},
): Promise<Token> {
  const { audiences, expirationSeconds, boundObject } = options
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences, expirationSeconds, boundObjectRef: boundObject },
  }
  const response = (await post(client, serviceAccounts, serviceAccount, 'token', body, options)) as {
    readonly status: Token
  }
  return response.status
}

function post(
  client: Client,
  resource: ResourceDescriptor,
  ref: ObjectRef,
  subresource: string,
  body: object,
  options: WriteOptions,
): Promise<unknown> {
  const path = objectPath(resource, ref, subresource) + writeQuery(options, undefined)
  const name = `${resourceName(resource)}/${subresource}`
  return client.raw({ verb: 'create', method: 'POST', path, body, resource: name }, options)
}
