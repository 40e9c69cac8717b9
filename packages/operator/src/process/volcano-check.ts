// SPDX-License-Identifier: Apache-2.0

import { enabledSchedulers, eventSource, events, type OperatorConfiguration, scheduler } from '@grove/api'
import {
  type Client,
  defineResource,
  EventRecorder,
  eventSink,
  type KubeObject,
  messageOf,
  systemClock,
} from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { lastEventsMs } from '../timings/timings.ts'
import { recordedEvents } from './event-records.ts'
import { exitCode, LaunchError } from './exit-code.ts'

interface Definition extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name: string
      readonly served?: boolean
      readonly schema?: { readonly openAPIV3Schema?: Schema }
    }[]
  }
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
}

const definitions = defineResource<Definition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

const { group, resource, version } = resources.volcanoPodGroups
const name = `${resource}.${group}`

/**
 * Older Volcano releases accept the PodGroups and drop unknown fields, so the gang would lose the minima of its
 * cliques.
 */
export async function checkVolcano(client: Client, configuration: OperatorConfiguration): Promise<void> {
  if (!enabledSchedulers(configuration).has(scheduler.volcano)) return
  const problem = await problemWithVolcano(client)
  if (!problem) return
  await emitEvent(client, problem.definition, problem.text)
  throw new LaunchError(
    exitCode.schedulerBackend,
    `failed to initialize ${scheduler.volcano} backend: ${problem.text}`,
  )
}

async function problemWithVolcano(
  client: Client,
): Promise<{ definition: KubeObject; text: string } | undefined> {
  const unread: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
  }
  try {
    const definition = await client.find(definitions, { name })
    const text = incompatibilityOf(definition)
    return text ? { definition: { ...unread, ...definition }, text } : undefined
  } catch (error) {
    return {
      definition: unread,
      text: `the CustomResourceDefinition ${name} cannot be read: ${messageOf(error)}`,
    }
  }
}

/** Returns why the operator cannot work with the Volcano release of this definition; undefined if it can. */
export function incompatibilityOf(definition: Definition | undefined): string | undefined {
  if (!definition)
    return `the CustomResourceDefinition ${name} is not installed; Volcano 1.14 or newer is needed`
  const found = definition.spec?.versions?.find(one => one.name === version)
  if (!found?.served) return `${name} is not served as ${version}; Volcano 1.14 or newer is needed`
  const spec = found.schema?.openAPIV3Schema?.properties?.spec
  return spec?.properties?.subGroupPolicy
    ? undefined
    : `${version} of ${name} has no spec.subGroupPolicy; Volcano 1.14 or newer is needed`
}

async function emitEvent(client: Client, definition: KubeObject, text: string): Promise<void> {
  const recorder = new EventRecorder({ sink: eventSink(client), clock: systemClock })
  recordedEvents(recorder).emit(definition, eventSource.schedulerBackend, events.volcanoUnavailable(text))
  await recorder.stop(lastEventsMs)
}
