// SPDX-License-Identifier: Apache-2.0

import type { Filter, Rejection } from '../filter.ts'

const rejection: Rejection = {
  filter: 'NodeName',
  reasons: ["node(s) didn't match the requested node name"],
  resolvable: false,
}

export const nodeName: Filter = {
  name: 'NodeName',
  prepare({ pod }) {
    const wanted = pod.spec?.nodeName
    return wanted ? node => (node.name === wanted ? undefined : rejection) : undefined
  },
}
