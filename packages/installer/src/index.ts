// SPDX-License-Identifier: Apache-2.0

export { installerRules } from './access.ts'
export { droppedFields } from './dropped-fields.ts'
export {
  type CrdClient,
  fieldManager,
  type InstallOptions,
  type InstallResult,
  installCrds,
} from './install.ts'
