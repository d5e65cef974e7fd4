import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those that take longest come first, so that no core is idle while the last one runs. */
const LONG = [
  'dashboard',
  'actions',
  'extremes',
  'incident',
  'sessions',
  'package',
  'library',
  'continuity',
  'outages',
  'restarts',
  'crashes',
  'rules',
  'findings',
  'chat',
  'jobs',
  'hostile',
  'calls',
  'kills',
  'turns',
  'restore',
  'daemon',
  'interruptions',
  'damage',
  'streams',
  'clocks',
  'watches',
  'follow-ups',
  'store',
  'other-writers',
  'lives',
  'innocent',
  'checkpoints',
  'outcomes',
  'usage',
  'money',
  'disk',
  'guards',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return at === -1 ? LONG.length : at
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

// Tests start hundreds of Node processes: what one has compiled, the next need not.
process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, 'node_modules/.cache/node-compile')

// Tests that wait for agents leave a core idle about a quarter of the time: one more than there are cores.
const WORKERS = Math.min(4, availableParallelism() + 1)

// Tests start real processes, so they get processes of their own, few at a time, and timeouts that a busy machine does
// not reach: they only end a test that would never end.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    maxWorkers: WORKERS,
    // A worker runs one file after the other and keeps the modules that it has loaded: half the processor time of the
    // unit tests would go into loading them again for each file. No module under test has state of its own.
    isolate: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 10_000,
    restoreMocks: true,
    // Asked for by `npm run coverage`. What runs in daemons that tests start is not counted.
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text-summary', 'html'] },
    unstubEnvs: true,
  },
})
