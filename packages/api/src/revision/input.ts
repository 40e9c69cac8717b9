// SPDX-License-Identifier: Apache-2.0

// Input of revisions. Every field is `unknown`, because hashes are also computed for objects that were not validated,
// such as objects of an older release. A typed PodCliqueSet fits without a cast.
import { isJsonObject } from '@grove/apimachinery'

export interface SetInput {
  readonly metadata?: unknown
  readonly spec?: unknown
}

export interface SetSpecInput {
  readonly template?: unknown
}

export interface SetTemplateInput {
  readonly cliques?: unknown
  readonly cliqueStartupType?: unknown
  readonly priorityClassName?: unknown
}

export interface CliqueTemplateInput {
  readonly name?: unknown
  readonly labels?: unknown
  readonly annotations?: unknown
  readonly spec?: unknown
}

const nothing: Readonly<Record<string, unknown>> = Object.freeze({})

/** The value if it is an object, an empty one for anything else. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : nothing
}

/** The value if it is a list, an empty one for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
