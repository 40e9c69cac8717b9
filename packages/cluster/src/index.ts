// SPDX-License-Identifier: Apache-2.0

// Authentication and authorization
export {
  type AccessDecision,
  type AuthorizationMode,
  ServiceAccountTokens,
  serviceAccountUser,
} from './access/index.ts'
// The API server
export { type Cluster, type ClusterOptions, createCluster } from './cluster.ts'
// Controllers
export { SettableMetrics } from './controllers/autoscaler/metrics-source.ts'
export {
  type ControllerName,
  type ControllersOptions,
  type RunningControllers,
  startControllers,
} from './controllers/start-controllers.ts'
// Transports
export { type ClusterCertificates, makeCertificates } from './front/certificates.ts'
export { type Authenticate, type HttpsEndpoint, type HttpsOptions, serveHttps } from './front/https.ts'
export { adminUser, inProcessTransport } from './front/in-process.ts'
export { renderKubeconfig } from './front/kubeconfig.ts'
export * from './kubelet/index.ts'
export * from './nodes/index.ts'
export type { KubeObject } from './object.ts'
export { type Random, seededRandom, systemRandom } from './random.ts'
// Extension points
export type { Resource } from './registry/resource.ts'
export type { AdmissionAttributes, AdmissionPlugin } from './server/admission.ts'
export type { AccessAttributes, Authorizer } from './server/authorization.ts'
export type { ServerContext } from './server/context.ts'
export type { ApiRequest, ApiResponse, UserInfo } from './server/request.ts'
export type { ResourceCall, SubresourceHandler } from './server/resource-call.ts'
export { ApiError, apiError } from './server/status.ts'
// Storage
export {
  type Change,
  type Journal,
  MemoryStore,
  openSqliteJournal,
  restrictToOwner,
  type Store,
} from './store/index.ts'
export type { PodLogs } from './subresources/pod.ts'
