// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkHeaderComments } from './header-comments.ts'
import { repository } from './repository.fixture.ts'

test('a comment that describes a file must be above all imports', () => {
  const root = repository({
    'packages/a/src/above.ts':
      "// Describes the file.\nimport { x } from 'x'\nimport 'y'\n// Describes z.\nconst z = 1\n",
    'packages/a/src/between.ts': "import {\n  x,\n} from 'x'\n// Describes the file.\nimport 'y'\n",
    'packages/a/src/suppressed.ts': "import 'x'\n// biome-ignore lint/a/b: a reason\nimport 'y'\n",
    'packages/a/src/text.ts': "import 'x'\nconst y = 'import'\n// Describes z.\nconst z = \"import 'z'\"\n",
    'packages/a/src/none.ts': '// Describes the file.\n',
  })
  assert.deepEqual(checkHeaderComments(root), [
    'packages/a/src/between.ts: the comment "// Describes the file." is between imports; move it above them',
  ])
})
