// SPDX-License-Identifier: Apache-2.0

// The start of the single executable. It runs the program with code that was compiled when the executable was built.
// Node's own option for that contains only the functions that run when the program is loaded.
const { getAsset, getRawAsset } = require('node:sea')
const { Script, constants } = require('node:vm')

const script = new Script(getAsset('grove.cjs', 'utf8'), {
  filename: __filename,
  // Rejected with other flags of V8. The program then compiles its functions when it needs them.
  cachedData: new Uint8Array(getRawAsset('grove.compiled')),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
script.runInThisContext()(require, module, exports, __filename, __dirname)
