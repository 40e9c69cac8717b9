// SPDX-License-Identifier: Apache-2.0

export { type CompiledSchema, compileSchema } from './compile.ts'
export { type CustomResourceType, validateCustomResource } from './custom-resource.ts'
export { applyDefaults } from './defaults.ts'
export type { JSONSchemaProps, ValidationRule } from './json-schema-props.ts'
export { type PruneResult, prune } from './prune.ts'
export { type SurroundingErrors, validate } from './validate.ts'
