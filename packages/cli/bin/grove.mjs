#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0

// The commands `grove` and `kubectl grove` after `npm link`, or `npx grove` in this repository. Plain JavaScript,
// because an old Node must be able to run it: tools/run.mjs then starts the Node of the npm packages, or prints what
// to do.
import { basename } from 'node:path'

const isPlugin = /^kubectl-grove(\.\w+)?$/.test(basename(process.argv[1]))
const isNpx = process.env.npm_lifecycle_event === 'npx'
// The name for commands in messages.
process.env.GROVE_COMMAND = isPlugin ? 'kubectl grove' : isNpx ? 'npx grove' : 'grove'
// Paths are relative to the current directory, also if an npm script calls the command.
delete process.env.INIT_CWD
process.argv.splice(2, 0, 'packages/cli/src/main.ts')
await import('../../../tools/run.mjs')
