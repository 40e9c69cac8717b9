// SPDX-License-Identifier: Apache-2.0

/** Thrown inside the solver when the budget is used up; `withinBudget` turns it into a value. */
class BudgetExhausted extends Error {}

/** Counts steps instead of time, so equal inputs give equal results on every machine. */
export class Budget {
  steps = 0
  readonly limit: number
  readonly #parent: Budget | undefined

  constructor(limit: number, parent?: Budget) {
    this.limit = limit
    this.#parent = parent
  }

  get isUsedUp(): boolean {
    return this.steps > this.limit || (this.#parent?.isUsedUp ?? false)
  }

  spend(steps: number): void {
    this.steps += steps
    if (this.steps > this.limit) throw new BudgetExhausted()
    this.#parent?.spend(steps)
  }
}

/** Returns the result, or undefined if the budget was used up. */
export function withinBudget<Result>(work: () => Result): { readonly result: Result } | undefined {
  try {
    return { result: work() }
  } catch (error) {
    if (error instanceof BudgetExhausted) return undefined
    throw error
  }
}
