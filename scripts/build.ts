/**
 * Builds dist. `npm ci` runs this; bin/reprise uses the result as long as nothing in src is newer, and src otherwise.
 * With --types, which `npm pack` sets, the declarations of the package are written, too.
 */
import { join, resolve } from 'node:path'
import { bundleAll, ENTRIES } from './bundle.ts'
import { buildWeb } from './web.ts'

const root = resolve(import.meta.dirname, '..')
const dist = join(root, 'dist')

await bundleAll(root, dist)
await buildWeb(root, join(dist, 'web'))
if (process.argv.includes('--types')) {
  const { writeTypes } = await import('./types.ts')
  await writeTypes(root, ENTRIES, join(dist, 'types'))
}
