// SPDX-License-Identifier: Apache-2.0

// The objects of an installation: the CRDs, and the objects that the Helm chart renders with its default values, for a
// namespace and images of the user.
import { createHash } from 'node:crypto'
import { customResourceDefinitions } from '@grove/api/crds'
import type { KubeObject } from '@grove/kube/client'
import chart from './chart.generated.json' with { type: 'json' }

export interface InstallOptions {
  readonly namespace: string
  /** Image of operator and CRD installer, with its tag. Default: that of the chart. */
  readonly image?: string
  /** Image of the startup waiter. The operator adds its own version as the tag. Default: that of the chart. */
  readonly waiterImage?: string
}

export const defaultNamespace = chart.namespace

export function installManifests(options: InstallOptions): KubeObject[] {
  const objects = inNamespace(chart.objects as unknown as KubeObject[], options.namespace)
  const configMap = objects.find(({ kind }) => kind === 'ConfigMap')
  const deployment = objects.find(({ kind }) => kind === 'Deployment')
  if (!configMap || !deployment) throw new Error('the rendered chart has no ConfigMap or no Deployment')
  nameConfigMap(configMap as ConfigMap, deployment as Deployment)
  setImages(deployment as Deployment, options)
  return [...customResourceDefinitions, ...objects]
}

interface ConfigMap extends KubeObject {
  readonly metadata: { name: string }
  readonly data: Readonly<Record<string, string>>
}

interface Deployment extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly initContainers: Container[]
        readonly containers: Container[]
        readonly volumes: readonly { readonly configMap?: { name: string } }[]
      }
    }
  }
}

interface Container {
  image: string
  readonly env?: { readonly name: string; value?: string }[]
}

/** The chart uses the namespace only as a complete value, in objects and in the operator configuration. */
function inNamespace(objects: readonly KubeObject[], namespace: string): KubeObject[] {
  const text = JSON.stringify(objects)
    .replaceAll(`"${chart.namespace}"`, `"${namespace}"`)
    .replaceAll(`: ${chart.namespace}\\n`, `: ${namespace}\\n`)
  return JSON.parse(text) as KubeObject[]
}

/** The name contains a hash of the configuration, so that a changed configuration rolls out the Deployment. */
function nameConfigMap({ metadata, data }: ConfigMap, { spec }: Deployment): void {
  const configuration = data['config.yaml']?.trimEnd() ?? ''
  const hash = createHash('sha256').update(configuration).digest('hex').slice(0, 8)
  metadata.name = metadata.name.replace(/[^-]*$/, hash)
  for (const { configMap } of spec.template.spec.volumes) if (configMap) configMap.name = metadata.name
}

function setImages({ spec }: Deployment, { image, waiterImage }: InstallOptions): void {
  const { initContainers, containers } = spec.template.spec
  if (image !== undefined) for (const container of [...initContainers, ...containers]) container.image = image
  for (const { env = [] } of containers)
    for (const variable of env)
      if (variable.name === 'GROVE_INIT_CONTAINER_IMAGE' && waiterImage !== undefined)
        variable.value = waiterImage
}
