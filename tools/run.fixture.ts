// SPDX-License-Identifier: Apache-2.0

// A program that a signal ends, because it handles none.
process.kill(process.pid, 'SIGTERM')
setInterval(() => {}, 1_000)
