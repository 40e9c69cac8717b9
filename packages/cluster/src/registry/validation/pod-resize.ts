// SPDX-License-Identifier: Apache-2.0

import { equalJson, type FieldError, fieldError } from '@grove/apimachinery'
import type { Container, PodSpec } from '../../schema/types.generated.ts'
import { qualityOfService } from '../strategies/pod.ts'
import { validateResources } from './resources.ts'

const mutable = ['cpu', 'memory']

/** A resize may change cpu and memory, but not the QoS class. */
export function validatePodResize(spec: PodSpec, old: PodSpec): FieldError[] {
  const containers = spec.containers ?? []
  const errors = containers.flatMap((container, index) =>
    validateResources(container, `spec.containers[${index}].resources`),
  )
  const before = qualityOfService(old)
  if (qualityOfService(spec) !== before)
    errors.push(fieldError.invalid('spec', before, 'Pod QOS Class may not change as a result of resizing'))
  const known = old.containers ?? []
  if (containers.length !== known.length)
    return [
      ...errors,
      fieldError.forbidden('spec.containers', 'containers may not be added or removed on resize'),
    ]
  for (const [index, container] of containers.entries())
    errors.push(...removed(container, known[index]!, `spec.containers[${index}].resources`))
  if (containers.some((container, index) => !equalJson(fixed(container), fixed(known[index]!))))
    errors.push(fieldError.forbidden('spec', 'only cpu and memory resources are mutable'))
  return errors
}

function removed({ resources }: Container, old: Container, field: string): FieldError[] {
  return (['requests', 'limits'] as const).flatMap(part =>
    mutable.some(name => old.resources?.[part]?.[name] && !resources?.[part]?.[name])
      ? [fieldError.forbidden(`${field}.${part}`, `resource ${part} cannot be removed`)]
      : [],
  )
}

/** The immutable part of a container's resources. */
function fixed({ resources }: Container): unknown {
  const rest = (amounts: Readonly<Record<string, string>> | undefined) =>
    Object.fromEntries(Object.entries(amounts ?? {}).filter(([name]) => !mutable.includes(name)))
  return { requests: rest(resources?.requests), limits: rest(resources?.limits), claims: resources?.claims }
}
