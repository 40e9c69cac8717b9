// SPDX-License-Identifier: Apache-2.0

// Splits the operator's rights into groups that the chart renders by condition. The chart cannot run TypeScript, so it
// needs the rules as data; the operator's own functions stay the only source of them.
import { isDeepStrictEqual } from 'node:util'
import {
  type CertProvisionMode,
  enabledSchedulers,
  loadConfiguration,
  type OperatorConfiguration,
  type PolicyRule,
  supportedSchedulers,
} from '@grove/api'

/** A placeholder in the data for a name that is known only when the chart is rendered. */
export const placeholder = {
  leaseName: '$(leaseName)',
  secretName: '$(secretName)',
  schedulerLeaseName: '$(schedulerLeaseName)',
} as const

/** Rules that apply when the condition holds. The template `grove.conditions` evaluates conditions by these names. */
export interface ConditionalRules {
  readonly when: string
  readonly rules: readonly PolicyRule[]
}

interface Choice {
  readonly schedulers?: readonly string[]
  readonly webhooks?: boolean
  readonly mode?: CertProvisionMode
  readonly secure?: boolean
  readonly warnings?: boolean
}

/** Each condition with a configuration that fulfils it, and otherwise only conditions before it in the list. */
const conditions: readonly { readonly when: string; readonly choice: Choice }[] = [
  ...supportedSchedulers.map(name => ({ when: `scheduler.${name}`, choice: { schedulers: [name] } })),
  { when: 'metrics.secure', choice: { secure: true, mode: 'manual' } },
  { when: 'certificates.auto', choice: { secure: true, mode: 'auto' } },
  { when: 'webhooks.auto', choice: { webhooks: true, mode: 'auto' } },
  { when: 'webhooks.manual', choice: { webhooks: true, mode: 'manual' } },
  { when: 'placementWarnings', choice: { webhooks: true, mode: 'manual', warnings: true } },
]

/**
 * The rules of `rulesOf`, grouped by condition. Throws when the groups do not add up to the rules of every possible
 * configuration: a new condition then needs an entry above.
 */
export function conditionalRules(
  rulesOf: (configuration: OperatorConfiguration) => readonly PolicyRule[],
): ConditionalRules[] {
  const always = rulesOf(configurationOf({ mode: 'manual' }))
  const known = [...always]
  const groups: ConditionalRules[] = [{ when: 'always', rules: always }]
  for (const { when, choice } of conditions) {
    const rules = rulesOf(configurationOf(choice)).filter(rule => !includes(known, rule))
    if (rules.length === 0) continue
    groups.push({ when, rules })
    known.push(...rules)
  }
  for (const choice of everyChoice()) {
    const configuration = configurationOf(choice)
    const held = conditionsOf(configuration)
    const rendered = groups.filter(({ when }) => held.has(when)).flatMap(({ rules }) => rules)
    const wanted = rulesOf(configuration)
    const isComplete = wanted.every(rule => includes(rendered, rule)) && rendered.length === wanted.length
    if (!isComplete)
      throw new Error(`the chart's conditions do not yield the rights of ${JSON.stringify(choice)}`)
  }
  return groups
}

/** Must equal the template `grove.conditions`. */
function conditionsOf(configuration: OperatorConfiguration): ReadonlySet<string> {
  const { webhooks, metrics } = configuration.server
  const isAuto = webhooks.certProvisionMode === 'auto'
  return new Set([
    'always',
    ...[...enabledSchedulers(configuration)].map(name => `scheduler.${name}`),
    ...(webhooks.enabled ? [isAuto ? 'webhooks.auto' : 'webhooks.manual'] : []),
    ...(webhooks.enabled && configuration.placementWarnings.enabled ? ['placementWarnings'] : []),
    ...(metrics.secure ? ['metrics.secure'] : []),
    ...(isAuto && (webhooks.enabled || metrics.secure) ? ['certificates.auto'] : []),
  ])
}

function configurationOf(choice: Choice) {
  const { schedulers = [], webhooks = false, mode, secure = false, warnings = false } = choice
  const loaded = loadConfiguration({
    apiVersion: 'operator.config.grove.io/v1alpha1',
    kind: 'OperatorConfiguration',
    leaderElection: { enabled: true, resourceName: placeholder.leaseName },
    scheduler: { profiles: schedulers.map(name => ({ name })) },
    server: {
      webhooks: {
        enabled: webhooks,
        secretName: placeholder.secretName,
        ...(mode && { certProvisionMode: mode }),
      },
      metrics: { secure },
    },
    placementWarnings: { enabled: warnings },
  })
  if (loaded.outcome !== 'loaded') throw new Error(JSON.stringify(loaded))
  return loaded.configuration
}

function* everyChoice(): Generator<Choice> {
  for (let subset = 0; subset < 2 ** supportedSchedulers.length; subset++)
    for (const webhooks of [false, true])
      for (const mode of ['auto', 'manual'] as const)
        for (const secure of [false, true])
          for (const warnings of [false, true])
            yield {
              schedulers: supportedSchedulers.filter((_, index) => subset & (1 << index)),
              webhooks,
              mode,
              secure,
              warnings,
            }
}

function includes(rules: readonly PolicyRule[], wanted: PolicyRule): boolean {
  return rules.some(rule => isDeepStrictEqual(rule, wanted))
}
