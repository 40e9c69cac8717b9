// SPDX-License-Identifier: Apache-2.0

// Turns the callbacks of undici for one request into a response or one TransportError.
import { type Dispatcher, errors } from 'undici'
import {
  TransportError,
  type TransportHeaders,
  type TransportResponse,
  type TransportStream,
} from './transport.ts'

/** Unread bytes of a stream at which its connection is paused. */
const streamBufferBytes = 1024 * 1024

/** The common part of both kinds of response: whether the request was sent, abortion, and failure. */
export abstract class HttpResponse implements Dispatcher.DispatchHandler {
  protected status = 0
  protected headers: TransportHeaders = {}
  protected controller: Dispatcher.DispatchController | undefined
  #signal: AbortSignal | undefined
  #abort: (() => void) | undefined
  #finished: (() => void) | undefined
  #failed = false
  #sent = false

  constructor(signal: AbortSignal | undefined) {
    if (!signal) return
    this.#signal = signal
    this.#abort = () => this.abort()
    signal.addEventListener('abort', this.#abort, { once: true })
  }

  /** Calls back once when the connection is finished with this request, with any result. */
  onFinished(over: () => void): void {
    this.#finished = over
  }

  /** Passes the error to the caller; called at most once. */
  protected abstract fail(error: TransportError): void

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.#signal?.aborted) controller.abort(abortReason(this.#signal))
    else this.#sent = true
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: TransportHeaders): void {
    this.status = status
    this.headers = headers
  }

  onResponseEnd(): void {
    this.#forgetSignal()
    this.#notifyFinished()
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#failOnce(error)
    this.#notifyFinished()
  }

  #notifyFinished(): void {
    const over = this.#finished
    this.#finished = undefined
    over?.()
  }

  #failOnce(error: Error): void {
    if (this.#failed) return
    this.#failed = true
    this.#forgetSignal()
    this.fail(this.#describe(error))
  }

  #forgetSignal(): void {
    if (this.#abort) this.#signal?.removeEventListener('abort', this.#abort)
    this.#abort = undefined
  }

  protected abort(): void {
    const reason = abortReason(this.#signal)
    // A request that still waits for a connection has no controller. It is dropped when its turn comes.
    if (this.controller) this.controller.abort(reason)
    else this.#failOnce(reason)
  }

  #describe(error: Error): TransportError {
    if (this.#signal?.aborted) return new TransportError('aborted', this.#sent, 'aborted', error)
    const timeout = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError
    if (timeout) return new TransportError('timeout', this.#sent, 'the server did not respond in time', error)
    return new TransportError('network', this.#sent, messageOf(error), error)
  }
}

/** A response that is delivered when it is complete. */
export class BufferedResponse extends HttpResponse {
  #chunks: Buffer[] = []
  readonly #resolve: (response: TransportResponse) => void
  readonly #reject: (error: TransportError) => void

  constructor(
    signal: AbortSignal | undefined,
    resolve: (response: TransportResponse) => void,
    reject: (error: TransportError) => void,
  ) {
    super(signal)
    this.#resolve = resolve
    this.#reject = reject
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  override onResponseEnd(): void {
    super.onResponseEnd()
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    this.#resolve({ status: this.status, headers: this.headers, body })
  }

  protected override fail(error: TransportError): void {
    this.#reject(error)
  }
}

/** A response that is delivered when it starts, and read as it arrives. */
export class StreamedResponse extends HttpResponse {
  readonly #resolve: (stream: TransportStream) => void
  readonly #reject: (error: TransportError) => void
  #started = false
  #chunks: Buffer[] = []
  #bufferedBytes = 0
  #ended = false
  #error: TransportError | undefined
  #resume: (() => void) | undefined

  constructor(
    signal: AbortSignal | undefined,
    resolve: (stream: TransportStream) => void,
    reject: (error: TransportError) => void,
  ) {
    super(signal)
    this.#resolve = resolve
    this.#reject = reject
  }

  override onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: TransportHeaders,
  ): void {
    super.onResponseStart(controller, status, headers)
    if (status < 200) return
    this.#started = true
    this.#resolve({ status, headers, body: this.#read() })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bufferedBytes += chunk.length
    if (this.#bufferedBytes > streamBufferBytes) controller.pause()
    this.#resume?.()
  }

  override onResponseEnd(): void {
    super.onResponseEnd()
    this.#ended = true
    this.#resume?.()
  }

  protected override fail(error: TransportError): void {
    this.#ended = true
    this.#error ??= error
    if (this.#started) this.#resume?.()
    else this.#reject(error)
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      while (true) {
        const chunks = this.#chunks
        this.#chunks = []
        this.#bufferedBytes = 0
        if (this.controller?.paused) this.controller.resume()
        yield* chunks
        if (this.#chunks.length > 0) continue
        if (this.#error) throw this.#error
        if (this.#ended) return
        await new Promise<void>(resolve => {
          this.#resume = resolve
        })
        this.#resume = undefined
      }
    } finally {
      if (!this.#ended) this.controller?.abort(new Error('the reader closed the stream'))
    }
  }
}

/** An aborted request must fail at once, not when its turn comes. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new TransportError('aborted', false, 'aborted', abortReason(signal))
}

function abortReason(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error(`aborted: ${String(signal?.reason)}`)
}

/** For a host with several addresses, Node throws one error without a message of its own. */
function messageOf(error: Error): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.map(each => (each instanceof Error ? each.message : String(each))).join('; ')
  return error.message || String((error as NodeJS.ErrnoException).code ?? error)
}
