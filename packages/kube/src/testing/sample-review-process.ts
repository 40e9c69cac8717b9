// SPDX-License-Identifier: Apache-2.0

// A review process whose webhooks do everything that webhook code must not do.
import { allowed, denied, serveReviews } from '../webhook/isolation/index.ts'

export interface SampleSetup {
  readonly greeting: string
}

serveReviews(({ greeting }: SampleSetup) => ({
  '/greet': {
    decide: ({ name }) => denied(`${greeting}, ${name}`),
  },
  '/ask': {
    question: ({ name }) => (name ? { askFor: name } : undefined),
    decide: (_, facts) => allowed({ message: facts ? `found ${JSON.stringify(facts)}` : 'nothing asked' }),
  },
  '/loop': {
    decide: () => {
      for (;;);
    },
  },
  '/memory': {
    decide: () => {
      const lists: unknown[] = []
      for (;;) lists.push(new Array(1e6).fill(lists))
    },
  },
  '/throw': {
    decide: () => {
      throw new TypeError('cannot read properties of undefined')
    },
  },
}))
