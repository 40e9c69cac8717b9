// SPDX-License-Identifier: Apache-2.0

import { realHost } from '@grove/test-scenarios'
import { doctorTests } from '../testing/broken-clusters.ts'

doctorTests('real Kubernetes', realHost)
