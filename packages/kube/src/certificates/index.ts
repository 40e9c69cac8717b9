// SPDX-License-Identifier: Apache-2.0

export { type ClientIdentity, type ClusterAuthority, createAuthority } from './authority.ts'
export type { CertificateBundle } from './bundle.ts'
export { FileCertificateSource, type FileCertificateSourceOptions } from './file-source.ts'
export {
  type InjectionStore,
  type InjectionTarget,
  injectionStore,
  type WebhookConfiguration,
} from './injection.ts'
export type { KeyKind } from './issue.ts'
export { type CertificatePolicy, certificatePolicy } from './policy.ts'
export { CertificateProvisioner, type CertificateProvisionerOptions } from './provisioner.ts'
export { type CertificateSource, MemoryCertificateSource } from './source.ts'
export {
  type CertificateStore,
  type SecretOptions,
  type StoredBundle,
  secretStore,
  watchSecret,
} from './store.ts'
export { WebhookTrust, type WebhookTrustOptions } from './trust.ts'
export type { KeyPair } from './x509.ts'
