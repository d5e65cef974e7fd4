/** Builds the dashboard into a folder from which the daemon serves it, with compressed copies of its files. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Rollup } from 'vite'
import { collectLicenses } from './licenses.ts'

export async function buildWeb(root: string, dir: string): Promise<void> {
  const built = await build({
    configFile: join(root, 'web', 'vite.config.ts'),
    build: { outDir: dir },
    logLevel: 'warn',
  })
  const outputs = (Array.isArray(built) ? built : [built]) as Rollup.RollupOutput[]
  const modules = outputs
    .flatMap(({ output }) => output)
    .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  writeFileSync(join(dir, 'licenses.txt'), collectLicenses(root, modules))
  // The daemon sends compressed files to browsers that accept them.
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    if (!/[.](?:js|css|html|svg|webmanifest)$/.test(name)) continue
    writeFileSync(join(dir, `${name}.gz`), gzipSync(readFileSync(join(dir, name)), { level: 9 }))
  }
}
