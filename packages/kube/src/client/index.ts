// SPDX-License-Identifier: Apache-2.0

export type { Client, Deletion, RawRequest } from './client.ts'
export type { ClusterConfig, TlsMaterial } from './cluster-config.ts'
export {
  type ClientOptions,
  type ConnectionOptions,
  createClient,
  createClientOn,
  createTransport,
} from './create-client.ts'
export { type Credentials, CredentialsError, type HeaderValues } from './credentials.ts'
export { type DiscoveredResource, discover } from './discovery.ts'
export {
  isAlreadyExists,
  isConflict,
  isKubeError,
  isNotFound,
  KubeError,
  type KubeErrorCode,
  type Outcome,
  outcome,
  type RequestDescription,
  type Status,
  type StatusCause,
  type StatusDetails,
} from './error.ts'
export type {
  KubeObject,
  ObjectList,
  ObjectMeta,
  ObjectPage,
  ObjectRef,
  OwnerReference,
  Stored,
  StoredMeta,
} from './object.ts'
export type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  JsonPatchOperation,
  ListOptions,
  PageOptions,
  Patch,
  PatchOptions,
  RequestOptions,
  ResponseOptions,
  SelectOptions,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from './options.ts'
export type { RateLimit } from './rate-limit.ts'
export type { RequestReport } from './requester.ts'
export {
  apiVersionOf,
  collectionPath,
  defineResource,
  objectPath,
  type Resource,
  type ResourceDescriptor,
  resourceName,
} from './resource.ts'
export { defaultRetryPolicy, mayBeCarriedOut, type RetryPolicy, wasNotProcessed } from './retry.ts'
export {
  type BindOptions,
  bindPod,
  evictPod,
  getScale,
  requestToken,
  type Scale,
  setScale,
  type Token,
  type TokenOptions,
} from './subresources.ts'
export {
  type ResponseBody,
  type Transport,
  TransportError,
  type TransportFailure,
  type TransportHeaders,
  type TransportRequest,
  type TransportResponse,
  type TransportStream,
} from './transport.ts'
export type { WatchEvent } from './watch.ts'
