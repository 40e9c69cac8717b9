// SPDX-License-Identifier: Apache-2.0

import type { Fix, Level } from '@grove/scheduler'

type TaintLike = { readonly key?: string; readonly value?: string; readonly effect?: string }

/** The change as an instruction. */
export function fixText(fix: Fix, levels: readonly Level[] = []): string {
  const levelOf = (key: string) => levels.find(level => level.key === key)?.domain ?? key
  switch (fix.op) {
    case 'Uncordon':
      return `uncordon ${namesText(fix.nodes)}`
    case 'RemoveTaint':
      return `remove taint ${taintText(fix.taint)} from ${namesText(fix.nodes)}`
    case 'AddToleration':
      return `add a toleration for taint ${taintText(fix.toleration)} to PodClique ${namesText(fix.podGroups)}`
    case 'RelaxTopology':
      return fix.to === null
        ? `remove the required level ${levelOf(fix.from)} of ${fix.scope}`
        : `require level ${levelOf(fix.to)} instead of ${levelOf(fix.from)} for ${fix.scope}`
    case 'LowerMinAvailable':
      return `lower minAvailable of PodClique ${fix.podGroup} to ${fix.to}`
    case 'DeletePods': {
      const holder = fix.holder === undefined ? '' : ` of ${fix.holder}`
      const names = namesText(fix.pods.map(({ namespace, name }) => `${namespace}/${name}`))
      return `delete ${fix.pods.length === 1 ? 'pod' : 'pods'} ${names}${holder}`
    }
    case 'AddNodes':
      return `add ${fix.count} ${fix.count === 1 ? 'node' : 'nodes'} like ${fix.like}`
  }
}

function taintText({ key, value, effect }: TaintLike): string {
  return `${key ?? ''}${value ? `=${value}` : ''}${effect ? `:${effect}` : ''}`
}

const mostNames = 4

/** Names, the first few of a long list. `-o json` contains all of them. */
function namesText(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).join(', ')
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown
}
