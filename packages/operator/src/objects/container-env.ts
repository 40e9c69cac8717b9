// SPDX-License-Identifier: Apache-2.0

import type { Container, EnvVar, PodSpec } from '@grove/api'

/**
 * Prepends variables to those of every container and init container, so that variables of the user can refer to them.
 * The names are reserved: a variable of the user with the same name is removed.
 */
export function withEnvironment(podSpec: PodSpec, variables: readonly EnvVar[]): PodSpec {
  const reserved = new Set(variables.map(variable => variable.name))
  const extend = (container: Container): Container => ({
    ...container,
    env: [...variables, ...(container.env ?? []).filter(variable => !reserved.has(variable.name))],
  })
  return {
    ...podSpec,
    containers: podSpec.containers.map(extend),
    ...(podSpec.initContainers && { initContainers: podSpec.initContainers.map(extend) }),
  }
}

export function literal(name: string, value: string): EnvVar {
  return { name, value }
}

export function fromLabel(name: string, key: string): EnvVar {
  return { name, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${key}']` } } }
}
