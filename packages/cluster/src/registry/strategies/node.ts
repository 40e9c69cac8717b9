// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, labelValue, qualifiedName } from '@grove/apimachinery'
import type { KubeObject } from '../../object.ts'
import type { Node } from '../../schema/types.generated.ts'
import type { Strategy } from '../resource.ts'

/** A kubelet registers its node with all that it knows, status included. */
export const nodeStrategy: Partial<Strategy> = {
  keepsNewStatus: true,
  validate: validateNode,
}

export function defaultNode(draft: KubeObject): void {
  const { status } = draft as unknown as Node
  if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity }
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** The real server says that taints are in the metadata. */
function validateNode(object: KubeObject): FieldError[] {
  const taints = (object as unknown as Node).spec?.taints ?? []
  const seen = new Set<string>()
  return taints.flatMap(({ key = '', value = '', effect = '' }, index) => {
    const at = `metadata.taints[${index}]`
    const errors = qualifiedName(key).map(problem => fieldError.invalid(`${at}.key`, key, problem))
    errors.push(...labelValue(value).map(problem => fieldError.invalid(`${at}.value`, value, problem)))
    if (effect === '') errors.push(fieldError.required(`${at}.effect`))
    else if (!effects.includes(effect)) errors.push(fieldError.unsupported(`${at}.effect`, effect, effects))
    if (seen.has(`${key} ${effect}`))
      errors.push({
        ...fieldError.duplicate(at, { Key: key, Value: value, Effect: effect, TimeAdded: null }),
        detail: 'taints must be unique by key and effect pair',
      })
    seen.add(`${key} ${effect}`)
    return errors
  })
}
