/**
 * Bundles the CLI and the daemon into dist/app and the dashboard into dist/web, and writes the JSON Schema of the configuration to
 * dist/config.schema.json. Loading hundreds of small modules would make the daemon start too slowly; a few bundled files
 * load quickly. `npm ci` runs this. bin/reprise uses the bundle as long as nothing in src is newer, and src otherwise.
 */
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { build } from 'vite'
import { configJsonSchema } from '../src/config/schema.ts'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'dist', 'app')

rmSync(target, { recursive: true, force: true })
const bundle = await rolldown({
  cwd: root,
  input: {
    main: join(root, 'src', 'cli', 'main.ts'),
    'reading-thread': join(root, 'src', 'daemon', 'reading-thread.ts'),
    relay: join(root, 'src', 'process', 'sandbox', 'relay.ts'),
  },
  platform: 'node',
  logLevel: 'warn',
})
await bundle.write({ dir: target, format: 'esm', sourcemap: true })
const SCRIPTS = [
  'keeper.sh',
  'sandbox/sandbox.sh',
  ...['shim.sh', 'runner.sh', 'git-shim.sh'].map((name) => `broker/${name}`),
]
for (const script of SCRIPTS) {
  copyFileSync(join(root, 'src', 'process', script), join(target, basename(script)))
}
writeFileSync(join(root, 'dist', 'config.schema.json'), `${JSON.stringify(configJsonSchema(), null, 2)}\n`)

const web = join(root, 'dist', 'web')
await build({ configFile: join(root, 'web', 'vite.config.ts'), logLevel: 'warn' })
// The daemon sends compressed files to browsers that accept them.
for (const name of readdirSync(web, { recursive: true, encoding: 'utf8' })) {
  if (!/[.](?:js|css|html|svg|webmanifest)$/.test(name)) continue
  writeFileSync(join(web, `${name}.gz`), gzipSync(readFileSync(join(web, name)), { level: 9 }))
}
