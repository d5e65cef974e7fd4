import { defineConfig } from 'vitest/config'

// Tests start real processes, so they get processes of their own, few at a time, and generous timeouts.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
})
