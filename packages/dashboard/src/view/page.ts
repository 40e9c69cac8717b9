// SPDX-License-Identifier: Apache-2.0

// Renders one page of the dashboard from the route and its document.
import type { NodesDocument, OverviewDocument, SetDocument } from '../documents/types.ts'
import { el, type ViewNode } from './element.ts'
import { nodesView } from './nodes.ts'
import { overviewView } from './overview.ts'
import type { Route } from './route.ts'
import { setView } from './set.ts'

export function pageView(route: Route, document: unknown, now: number): ViewNode[] {
  switch (route.page) {
    case 'overview':
      return overviewView(document as OverviewDocument, now)
    case 'nodes':
      return nodesView(document as NodesDocument)
    case 'set':
      return setView(document as SetDocument, now)
  }
}

export function titleOf(route: Route): string {
  switch (route.page) {
    case 'overview':
      return 'PodCliqueSets - Grove'
    case 'nodes':
      return 'Nodes - Grove'
    case 'set':
      return `${route.name} - Grove`
  }
}

export function errorView(message: string): ViewNode[] {
  return [el('p', { class: 'note bad', role: 'alert' }, message)]
}
