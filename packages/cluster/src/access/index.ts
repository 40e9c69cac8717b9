// SPDX-License-Identifier: Apache-2.0

export { type Access, type AuthorizationMode, createAccess } from './access.ts'
export { impersonate, impersonates } from './impersonation.ts'
export type { AccessDecision } from './rbac.ts'
export { serviceAccountUser } from './service-account-user.ts'
export { handleTokenRequest } from './token-request.ts'
export { ServiceAccountTokens } from './tokens.ts'
