// SPDX-License-Identifier: Apache-2.0

// The objects of an installation: the CRDs, and the objects that the Helm chart renders with its default values, for a
// namespace and images of the user.
import { createHash } from 'node:crypto'
import { customResourceDefinitions } from '@grove/api/crds'
import type { KubeObject } from '@grove/kube/client'
import chart from './chart.generated.json' with { type: 'json' }
import { type Release, repositoriesOf } from './release.ts'

export interface InstallOptions {
  readonly namespace: string
  /** Determines the default images and the version of the chart. */
  readonly release?: Release | undefined
  /** Image of operator and CRD installer, with its tag. Default: that of the release, else of the chart. */
  readonly image?: string | undefined
  /** Image of the startup waiter. The operator adds its own version as the tag. Default: as for `image`. */
  readonly waiterImage?: string | undefined
}

export const defaultNamespace = chart.namespace

export function installManifests({ namespace, release, ...images }: InstallOptions): KubeObject[] {
  const objects = ofRelease(inNamespace(JSON.stringify(chart.objects), namespace), release)
  const configMap = objects.find(({ kind }) => kind === 'ConfigMap')
  const deployment = objects.find(({ kind }) => kind === 'Deployment')
  if (!configMap || !deployment) throw new Error('the rendered chart has no ConfigMap or no Deployment')
  nameConfigMap(configMap as ConfigMap, deployment as Deployment)
  setImages(deployment as Deployment, {
    image: images.image ?? (release && `${repositoriesOf(release).operator}:${release.version}`),
    waiterImage: images.waiterImage ?? (release && repositoriesOf(release).waiter),
  })
  return [...customResourceDefinitions, ...objects]
}

type Images = Pick<InstallOptions, 'image' | 'waiterImage'>

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
function inNamespace(objects: string, namespace: string): string {
  return objects
    .replaceAll(`"${chart.namespace}"`, `"${namespace}"`)
    .replaceAll(`: ${chart.namespace}\\n`, `: ${namespace}\\n`)
}

/** The chart of a release has the version of the release, which its objects have in a label. */
function ofRelease(objects: string, release: Release | undefined): KubeObject[] {
  const text = release
    ? objects.replaceAll(/"chart":"grove-charts-[^"]*"/g, `"chart":"grove-charts-${release.version}"`)
    : objects
  return JSON.parse(text) as KubeObject[]
}

/** The name contains a hash of the configuration, so that a changed configuration rolls out the Deployment. */
function nameConfigMap({ metadata, data }: ConfigMap, { spec }: Deployment): void {
  const configuration = data['config.yaml']?.trimEnd() ?? ''
  const hash = createHash('sha256').update(configuration).digest('hex').slice(0, 8)
  metadata.name = metadata.name.replace(/[^-]*$/, hash)
  for (const { configMap } of spec.template.spec.volumes) if (configMap) configMap.name = metadata.name
}

function setImages({ spec }: Deployment, { image, waiterImage }: Images): void {
  const { initContainers, containers } = spec.template.spec
  if (image !== undefined) for (const container of [...initContainers, ...containers]) container.image = image
  for (const { env = [] } of containers)
    for (const variable of env)
      if (variable.name === 'GROVE_INIT_CONTAINER_IMAGE' && waiterImage !== undefined)
        variable.value = waiterImage
}
