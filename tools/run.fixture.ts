// SPDX-License-Identifier: Apache-2.0

// A program without signal handlers, which a signal ends.
process.kill(process.pid, 'SIGTERM')
setInterval(() => {}, 1_000)
