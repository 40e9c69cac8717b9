// SPDX-License-Identifier: Apache-2.0

// The JSON schema of the chart's values. Sections that the chart of the Go operator has accept unknown keys, so that
// every values file written for it works. Sections that only this chart has reject them, so that typing errors are
// reported.
import { configurationSchema } from './configuration-schema.ts'
import { type JsonSchema, numberOf, object, optionalOf } from './json-schema.ts'

const text = (description: string): JsonSchema => optionalOf({ type: 'string', description })
const flag = (description: string): JsonSchema => optionalOf({ type: 'boolean', description })
const integer = (description: string, minimum = 0, maximum?: number): JsonSchema =>
  numberOf({ type: 'integer', description, minimum, ...(maximum !== undefined && { maximum }) })
const list = (description: string, items: JsonSchema = { type: 'object' }): JsonSchema =>
  optionalOf({ type: 'array', description, items })
const free = (description: string): JsonSchema => optionalOf({ type: 'object', description })
const texts = (description: string): JsonSchema =>
  optionalOf({ type: 'object', description, additionalProperties: { type: ['string', 'null'] } })
const compatible = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  optionalOf(object(properties, { isOpen: true }))

const labels = texts('Labels of the object.')
const annotations = texts('Annotations of the object.')
const named = compatible({ name: text('Name of the object.'), labels })
const webhook = compatible({ labels, annotations: texts('Rendered with manual certificates only.') })
const image = (what: string): JsonSchema =>
  compatible({
    repository: text(`Repository of ${what}.`),
    tag: text('Tag, digest (sha256:…) or tag@digest. Default: the app version of the chart.'),
    pullPolicy: {
      enum: ['', 'Always', 'IfNotPresent', 'Never', null],
      description: 'When the image is pulled.',
    },
  })
const intOrPercent: JsonSchema = {
  type: ['integer', 'string', 'null'],
  description: 'A number or a percentage.',
}

/** Sections that templates read without a condition. */
const requiredSections = [
  'image',
  'serviceAccount',
  'config',
  'configMap',
  'deployment',
  'service',
  'metrics',
  'clusterRole',
  'clusterRoleBinding',
  'leaseRole',
  'leaseRoleBinding',
  'webhooks',
]

export function valuesSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    description: 'Values of the chart grove-charts.',
    ...object(
      {
        global: free('Values that a parent chart shares with all of its charts; not read.'),
        replicaCount: integer('Replicas of the Deployment. Default: 2, or 1 without leader election.'),
        image: image('the operator'),
        imagePullSecrets: list('Pull secrets, each with a name.'),
        resources: free('Requests and limits of the containers.'),
        podSecurityContext: free('Security context of the pod.'),
        securityContext: free('Security context of the containers.'),
        nodeSelector: texts('Node selector of the pod.'),
        tolerations: list('Tolerations of the pod.'),
        affinity: free('Affinity of the pod.'),
        topologySpread: optionalOf(
          object({
            enabled: flag('Spread the replicas over nodes and zones.'),
            constraints: list('Replace the default constraints.'),
          }),
        ),
        podAnnotations: texts('Annotations of the pod.'),
        podLabels: texts('Further labels of the pod.'),
        commonLabels: texts('Labels of every object.'),
        commonAnnotations: texts('Annotations of every object.'),
        serviceAccount: compatible({
          automount: flag('Mount the token into every pod of the account.'),
          name: optionalOf({ type: 'string', minLength: 1, description: 'Name of the ServiceAccount.' }),
          labels,
          annotations,
        }),
        config: configurationSchema(),
        configMap: compatible({ labels }),
        deployment: compatible({
          labels,
          annotations,
          env: list('Environment of the operator container.'),
          strategy: free('Update strategy of the Deployment.'),
        }),
        service: compatible({
          name: text('Name of the Service.'),
          type: text('Type of the Service.'),
          port: { type: ['integer', 'string', 'null'], description: 'Accepted for compatibility; not used.' },
          labels,
          annotations,
          publishNotReadyAddresses: flag('Route webhook requests also to pods that are not ready.'),
        }),
        metrics: compatible({
          serviceMonitor: compatible({
            enabled: flag('Render a ServiceMonitor.'),
            name: text('Name of the ServiceMonitor.'),
            labels,
            interval: text('Scrape interval.'),
            serviceAccount: compatible({
              name: text('Service account of Prometheus; it gets the right to read metrics.'),
              namespace: text('Its namespace.'),
            }),
          }),
          prometheusRule: optionalOf(
            object({ enabled: flag('Render a PrometheusRule with alerts.'), labels: texts('Its labels.') }),
          ),
          dashboard: optionalOf(
            object({
              enabled: flag('Render the Grafana dashboard as a ConfigMap.'),
              labels: texts('Its labels; the sidecar of Grafana finds it by one of them.'),
              annotations: texts('Its annotations.'),
            }),
          ),
        }),
        gangScheduler: optionalOf(
          object({
            enabled: flag('Run the gang scheduler and add its profile to the operator.'),
            replicaCount: integer('Replicas of the scheduler.', 1),
            resources: free('Requests and limits of its container.'),
            config: free('Keys of its SchedulerConfiguration.'),
          }),
        ),
        dashboard: optionalOf(
          object({
            enabled: flag('Run the read-only web dashboard.'),
            bindAddress: text('Its address; 127.0.0.1: only kubectl port-forward reaches it.'),
            port: integer('Its port.', 1, 65535),
            probesPort: integer('Port of its probes.', 1, 65535),
            allowedHosts: list('Host names of a proxy in front of it.', { type: 'string' }),
            logLevel: {
              enum: ['debug', 'info', 'warn', 'error', null],
              description: 'Its log level.',
            },
            resources: free('Requests and limits of its container.'),
          }),
        ),
        clusterRole: named,
        clusterRoleBinding: named,
        leaseRole: named,
        leaseRoleBinding: named,
        aggregatedRoles: optionalOf(
          object({
            enabled: flag('Render ClusterRoles that extend the built-in roles view, edit and admin.'),
          }),
        ),
        webhooks: compatible({
          caBundle: text('Base64 of the certificate authority, with manual certificates.'),
          podCliqueSetValidationWebhook: webhook,
          podCliqueSetDefaultingWebhook: webhook,
          clusterTopologyValidationWebhook: webhook,
          authorizerWebhook: webhook,
        }),
        webhookServerSecret: compatible({
          enabled: flag('Accepted for compatibility; the operator creates the Secret.'),
          labels,
        }),
        certManager: optionalOf(
          object({
            enabled: flag('Let cert-manager issue the certificate. Sets certProvisionMode to manual.'),
            issuerRef: free('Issuer; default: a self-signed one of this release.'),
            duration: text('Validity of the certificate.'),
          }),
        ),
        podDisruptionBudget: optionalOf(
          object({
            enabled: flag('Render a PodDisruptionBudget when there is more than one replica.'),
            maxUnavailable: intOrPercent,
            minAvailable: intOrPercent,
          }),
        ),
        networkPolicy: optionalOf(
          object({
            enabled: flag('Render a NetworkPolicy.'),
            webhooksFrom: list('Peers that may reach the webhooks; empty: all.'),
            metricsFrom: list('Peers that may reach the metrics; empty: all.'),
            dashboardFrom: list('Peers that may reach the web dashboard; empty: none.'),
            egress: list('Egress rules; empty: egress is not restricted.'),
          }),
        ),
        priorityClass: compatible({
          enabled: flag('Render a PriorityClass and use it.'),
          name: text('Name of the PriorityClass.'),
          value: integer('Value of the PriorityClass.', -2147483648, 1000000000),
        }),
        priorityClassName: text('An existing PriorityClass.'),
        crdInstaller: compatible({
          enabled: flag('Create and upgrade the CRDs with an init container.'),
          force: flag('Install the CRDs also where objects can lose fields.'),
          image: image('the installer; empty: the image of the operator, which contains it'),
        }),
      },
      { isOpen: true, required: requiredSections },
    ),
  }
}
