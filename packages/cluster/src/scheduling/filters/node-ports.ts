// SPDX-License-Identifier: Apache-2.0

import type { Filter, Rejection } from '../filter.ts'

const rejection: Rejection = {
  filter: 'NodePorts',
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  resolvable: true,
}

export const nodePorts: Filter = {
  name: 'NodePorts',
  prepare: ({ ports }) =>
    ports.length === 0
      ? undefined
      : node => (ports.some(port => node.portTaken(port)) ? rejection : undefined),
}
