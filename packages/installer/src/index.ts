// SPDX-License-Identifier: Apache-2.0

export { installerRules } from './access.ts'
export {
  type CrdClient,
  fieldManager,
  type InstallOptions,
  type InstallResult,
  installCrds,
} from './install.ts'
