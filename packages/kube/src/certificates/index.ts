// SPDX-License-Identifier: Apache-2.0

export { type ClientIdentity, type ClusterAuthority, createAuthority } from './authority.ts'
export { type CertificateBundle, emptyBundle } from './bundle.ts'
export { type CertificateDecision, carryOutRenewal, decideRenewal } from './decision.ts'
export { FileCertificateSource, type FileCertificateSourceOptions } from './file-source.ts'
export {
  type InjectionStore,
  type InjectionTarget,
  injectAuthorities,
  injectionStore,
  type WebhookConfiguration,
} from './injection.ts'
export { type CertificateRequest, issueAuthority, issueServer, type KeyKind } from './issue.ts'
export { type CertificatePolicy, certificatePolicy, defaultCertificateTimes } from './policy.ts'
export { CertificateProvisioner, type CertificateProvisionerOptions } from './provisioner.ts'
export { type CertificateSource, MemoryCertificateSource } from './source.ts'
export { type CertificateStore, type SecretOptions, type StoredBundle, secretStore } from './store.ts'
export type { CertificateContent, KeyPair } from './x509.ts'
