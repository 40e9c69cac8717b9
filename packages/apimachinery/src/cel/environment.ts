// SPDX-License-Identifier: Apache-2.0
import { Environment } from '@marcbachmann/cel-js'
import { registerListFunctions } from './list-functions.ts'
import { registerNetworkFunctions } from './network-functions.ts'
import { registerQuantityFunctions } from './quantity-functions.ts'
import { registerStringFunctions } from './string-functions.ts'

/**
 * The CEL environment of rules: CEL and the Kubernetes libraries that CRDs use in practice. Not supported:
 * authorizer, semver, format, the methods of ip() and cidr(), optMap, comprehensions with two variables. A
 * rule with an unknown function does not compile. Costs are not limited, because the author of the CRD is
 * trusted.
 */
export function ruleEnvironment(optionalOldSelf: boolean): Environment {
  base ??= createBase().registerVariable('self', 'dyn')
  if (optionalOldSelf) {
    withOptional ??= base.clone().registerVariable('oldSelf', 'optional<dyn>')
    return withOptional
  }
  withPlain ??= base.clone().registerVariable('oldSelf', 'dyn')
  return withPlain
}

// Created on first use, because most programs never evaluate a rule.
let base: Environment | undefined
let withOptional: Environment | undefined
let withPlain: Environment | undefined

/** The same libraries with dynamically typed variables. */
export function conditionEnvironment(variables: readonly string[]): Environment {
  const key = variables.join(' ')
  let environment = conditions.get(key)
  if (!environment) {
    environment = createBase()
    for (const variable of variables) environment.registerVariable(variable, 'dyn')
    conditions.set(key, environment)
  }
  return environment
}

const conditions = new Map<string, Environment>()

function createBase(): Environment {
  // Values are dynamically typed, so literals like [1, self.x] cannot be proven homogeneous.
  return registerLibraries(
    new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false }),
  )
}

export function registerLibraries(environment: Environment): Environment {
  registerStringFunctions(environment)
  registerListFunctions(environment)
  registerNetworkFunctions(environment)
  registerQuantityFunctions(environment)
  return environment
}
