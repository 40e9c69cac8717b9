// SPDX-License-Identifier: Apache-2.0
import { Environment } from '@marcbachmann/cel-js'
import { registerListFunctions } from './list-functions.ts'
import { registerNetworkFunctions } from './network-functions.ts'
import { registerQuantityFunctions } from './quantity-functions.ts'
import { registerStringFunctions } from './string-functions.ts'

/**
 * What rules may use: CEL itself and the part of the Kubernetes libraries that CRDs use in practice. Not there:
 * authorizer, semver, format, the methods of ip() and cidr(), optMap, comprehensions with two variables. A rule that
 * calls something unknown does not compile. Costs are not limited: the rules come with the CRD, whose author is
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

// Made on first use: most programs that read schemas never evaluate a rule.
let base: Environment | undefined
let withOptional: Environment | undefined
let withPlain: Environment | undefined

/** The same libraries with other variables, all of which are seen only at run time. */
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
  // The values are typed only at run time, so that literals like [1, self.x] cannot be proven homogeneous.
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
  registerStringFunctions(environment)
  registerListFunctions(environment)
  registerNetworkFunctions(environment)
  registerQuantityFunctions(environment)
  return environment
}
