// SPDX-License-Identifier: Apache-2.0

// node compile.cjs PROGRAM OUTPUT MANIFEST: runs the program of the single executable once, with a command that needs no
// cluster, and writes the compiled code of the functions that it has called.
const { readFileSync, writeFileSync } = require('node:fs')
const { Script, constants } = require('node:vm')

const [program, output, manifest] = process.argv.slice(2)
const script = new Script(readFileSync(program, 'utf8'), {
  filename: program,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
// This file is the main module, because the program looks for the playground above it.
process.argv.splice(1, Number.POSITIVE_INFINITY, __filename, 'validate', '-f', manifest)
process.on('exit', code => {
  if (code === 0) writeFileSync(output, script.createCachedData())
})
script.runInThisContext()(require, module, exports, __filename, __dirname)
