// SPDX-License-Identifier: Apache-2.0

import { embeddedHost } from '@grove/test-scenarios'
import { doctorTests } from '../testing/broken-clusters.ts'

doctorTests('the embedded cluster', embeddedHost)
