// SPDX-License-Identifier: Apache-2.0

// Profiles of the running process under the paths of Go's pprof, in the formats of V8, which Chrome's developer tools
// and editors open. A heap snapshot stops the process while it is taken and contains everything in memory, including
// secrets, so it is served on loopback only. The other profiles contain names of functions. One profile at a time.
import { Session } from 'node:inspector/promises'
import { getHeapSnapshot } from 'node:v8'
import type { Clock } from '../clock/index.ts'
import type { Logger } from '../log/index.ts'
import { type EndpointAddress, type EndpointResponse, HttpEndpoint, isLoopback, text } from './endpoint.ts'

const defaultSeconds = 30
const maxSeconds = 300
/** Average number of bytes between two sampled allocations. */
const samplingBytes = 32_768

const index = `/debug/pprof/
profile?seconds=${defaultSeconds}  CPU profile (.cpuprofile)
allocs?seconds=${defaultSeconds}   what was allocated meanwhile and is still there (.heapprofile)
heap                 snapshot of the heap (.heapsnapshot); the process stands still while it is taken
cmdline              command line
`

export function profilingEndpoint(address: EndpointAddress, clock: Clock, log?: Logger): HttpEndpoint {
  const host = address.host ?? '127.0.0.1'
  let busy = false
  const alone = async (take: () => Promise<EndpointResponse>): Promise<EndpointResponse> => {
    if (busy) return text(409, 'another profile is being taken\n')
    busy = true
    try {
      return await take()
    } finally {
      busy = false
    }
  }
  return new HttpEndpoint(
    'profiling',
    { ...address, host },
    url => {
      switch (url.pathname) {
        case '/debug/pprof':
        case '/debug/pprof/':
          return text(200, index)
        case '/debug/pprof/cmdline':
          return text(200, process.argv.join('\0'))
        case '/debug/pprof/profile':
          return alone(() => cpuProfile(secondsOf(url), clock))
        case '/debug/pprof/allocs':
          return alone(() => allocationProfile(secondsOf(url), clock))
        case '/debug/pprof/heap':
          return isLoopback(host)
            ? alone(async () => download('heap.heapsnapshot', getHeapSnapshot()))
            : text(403, 'heap snapshots contain secrets and are served on loopback only\n')
        default:
          return undefined
      }
    },
    log,
  )
}

async function cpuProfile(seconds: number, clock: Clock): Promise<EndpointResponse> {
  return withSession(async session => {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    await clock.sleep(seconds * 1_000)
    const { profile } = await session.post('Profiler.stop')
    return download('cpu.cpuprofile', JSON.stringify(profile))
  })
}

async function allocationProfile(seconds: number, clock: Clock): Promise<EndpointResponse> {
  return withSession(async session => {
    await session.post('HeapProfiler.startSampling', { samplingInterval: samplingBytes })
    await clock.sleep(seconds * 1_000)
    const { profile } = await session.post('HeapProfiler.stopSampling')
    return download('allocs.heapprofile', JSON.stringify(profile))
  })
}

async function withSession(use: (session: Session) => Promise<EndpointResponse>): Promise<EndpointResponse> {
  const session = new Session()
  session.connect()
  try {
    return await use(session)
  } finally {
    session.disconnect()
  }
}

function download(file: string, body: EndpointResponse['body']): EndpointResponse {
  const headers = {
    'content-type': 'application/json',
    'content-disposition': `attachment; filename="${file}"`,
  }
  return { status: 200, body, headers }
}

function secondsOf(url: URL): number {
  const seconds = Number(url.searchParams.get('seconds') ?? defaultSeconds)
  return seconds > 0 ? Math.min(seconds, maxSeconds) : defaultSeconds
}
