// SPDX-License-Identifier: Apache-2.0

// The generated files of the Helm chart: rights and webhook configurations as data, CRDs, and the schema of the values.
import { customResourceDefinitions, defaultConfiguration } from '@grove/api'
import { dashboardClusterRole } from '@grove/dashboard'
import { installerRules } from '@grove/installer'
import { operatorClusterRole, operatorRole, webhookConfigurations } from '@grove/operator'
import { schedulerClusterRole, schedulerRole } from '@grove/scheduler'
import { conditionalRules, placeholder } from './chart-rights.ts'
import { valuesSchema } from './values-schema.ts'

const chart = 'charts/grove'

/** The position of the labels and annotations of a webhook configuration in the values. */
const valuesKeys: Readonly<Record<string, string>> = {
  'podcliqueset-defaulting-webhook': 'podCliqueSetDefaultingWebhook',
  'podcliqueset-validating-webhook': 'podCliqueSetValidationWebhook',
  'clustertopology-validating-webhook': 'clusterTopologyValidationWebhook',
  'authorizer-webhook': 'authorizerWebhook',
}

export function chartFiles(): Record<string, string> {
  const definitions = customResourceDefinitions.map(crd => {
    const [plural, ...group] = crd.metadata.name?.split('.') ?? []
    // JSON is YAML. One line keeps half a megabyte of indentation out of the chart and out of Helm's release Secret.
    return [`${chart}/crds/${group.join('.')}_${plural}.yaml`, `---\n${JSON.stringify(crd)}\n`]
  })
  return {
    [`${chart}/files/operator.generated.json`]: json(operatorData()),
    [`${chart}/values.schema.json`]: json(valuesSchema()),
    ...Object.fromEntries(definitions),
  }
}

function operatorData(): object {
  const configuration = defaultConfiguration()
  const authorizer = { ...configuration.authorizer, enabled: true }
  const placementWarnings = { enabled: true }
  return {
    clusterRole: conditionalRules(each => operatorClusterRole(each).rules ?? []),
    role: conditionalRules(each => operatorRole('', each).rules ?? []),
    crdInstaller: installerRules,
    scheduler: {
      clusterRole: schedulerClusterRole().rules,
      role: schedulerRole('', placeholder.schedulerLeaseName).rules,
    },
    dashboard: { clusterRole: dashboardClusterRole().rules },
    webhookConfigurations: webhookConfigurations(
      { namespace: '', port: 0 },
      { authorizer, placementWarnings },
    ).map(({ kind, metadata, webhooks = [] }) => {
      const valuesKey = valuesKeys[metadata.name ?? '']
      if (!valuesKey)
        throw new Error(`the chart has no values for the webhook configuration ${metadata.name}`)
      return {
        kind,
        name: metadata.name,
        valuesKey,
        webhooks: webhooks.map(({ clientConfig, ...entry }) => ({
          path: clientConfig.service?.path,
          ...entry,
        })),
      }
    }),
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}
