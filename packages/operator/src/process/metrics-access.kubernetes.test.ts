// SPDX-License-Identifier: Apache-2.0

import { metricsAccessTests, realHost } from '@grove/test-scenarios'

metricsAccessTests('real Kubernetes', realHost)
