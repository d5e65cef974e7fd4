/**
 * Bundles the CLI and the daemon into dist/app. Loading some hundred small modules takes longer than the daemon may
 * take to start; a handful of files does not. `npm ci` runs this; bin/reprise uses the result as long as nothing in
 * src is newer, and src itself otherwise.
 */
import { copyFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'dist', 'app')

rmSync(target, { recursive: true, force: true })
const bundle = await rolldown({
  cwd: root,
  input: {
    main: join(root, 'src', 'cli', 'main.ts'),
    'reading-thread': join(root, 'src', 'daemon', 'reading-thread.ts'),
  },
  platform: 'node',
  logLevel: 'warn',
})
await bundle.write({ dir: target, format: 'esm', sourcemap: true })
for (const script of ['keeper.sh', 'guard.sh']) {
  copyFileSync(join(root, 'src', 'process', script), join(target, script))
}
