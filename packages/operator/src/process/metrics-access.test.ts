// SPDX-License-Identifier: Apache-2.0

import { embeddedHost, metricsAccessTests } from '@grove/test-scenarios'

metricsAccessTests('the embedded cluster', embeddedHost)
