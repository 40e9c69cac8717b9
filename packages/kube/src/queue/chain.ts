// SPDX-License-Identifier: Apache-2.0

export interface Link<Value> {
  readonly value: Value
  previous: Link<Value> | undefined
  next: Link<Value> | undefined
}

/** A FIFO queue that supports removal from the middle. Every operation is O(1). */
export class Chain<Value> {
  #first: Link<Value> | undefined
  #last: Link<Value> | undefined

  get isEmpty(): boolean {
    return this.#first === undefined
  }

  /** Appends a value. The link allows its removal. */
  push(value: Value): Link<Value> {
    const link: Link<Value> = { value, previous: this.#last, next: undefined }
    if (this.#last) this.#last.next = link
    else this.#first = link
    this.#last = link
    return link
  }

  shift(): Value | undefined {
    const first = this.#first
    if (first) this.remove(first)
    return first?.value
  }

  /** The link must be in this chain. */
  remove(link: Link<Value>): void {
    if (link.previous) link.previous.next = link.next
    else this.#first = link.next
    if (link.next) link.next.previous = link.previous
    else this.#last = link.previous
    link.previous = undefined
    link.next = undefined
  }
}
