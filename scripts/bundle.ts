/**
 * Bundles Reprise: the CLI and the daemon (`app`), the entries of the package (`lib`), and the JSON Schema of the
 * configuration. Loading hundreds of small modules would make the daemon start too slowly; a few bundled files load
 * quickly.
 */
import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type OutputChunk, rolldown } from 'rolldown'
import { configJsonSchema } from '../src/config/schema.ts'
import { collectLicenses } from './licenses.ts'

/** The entries of the package by name. Each also needs a line under `exports` in package.json. */
export const ENTRIES = {
  index: 'src/library/index.ts',
  provider: 'src/provider/index.ts',
  client: 'src/client/index.ts',
  simulator: 'src/library/simulator.ts',
}

/** Files that are started by their path, which must be beside the code that starts them. */
const STARTED = {
  'reading-thread': 'src/library/reading-thread.ts',
  relay: 'src/process/sandbox/relay.ts',
}
const SCRIPTS = [
  'keeper.sh',
  'sandbox/sandbox.sh',
  'sandbox/mounts.pl',
  ...['shim.sh', 'runner.sh', 'git-shim.sh'].map((name) => `broker/${name}`),
]

export async function bundleAll(root: string, dist: string): Promise<void> {
  const chunks = [
    ...(await bundle(root, join(dist, 'app'), { main: 'src/cli/main.ts' }, { sourcemap: true })),
    ...(await bundle(root, join(dist, 'lib'), ENTRIES, { sourcemap: false })),
  ]
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds)
  writeFileSync(join(dist, 'licenses.txt'), collectLicenses(root, modules))
  writeFileSync(join(dist, 'config.schema.json'), `${JSON.stringify(configJsonSchema(), null, 2)}\n`)
}

async function bundle(
  root: string,
  dir: string,
  input: Record<string, string>,
  options: { sourcemap: boolean },
): Promise<OutputChunk[]> {
  rmSync(dir, { recursive: true, force: true })
  const built = await rolldown({
    cwd: root,
    input: { ...input, ...STARTED },
    platform: 'node',
    logLevel: 'warn',
  })
  const { output } = await built.write({ dir, format: 'esm', ...options })
  await built.close()
  for (const script of SCRIPTS) {
    copyFileSync(join(root, 'src', 'process', script), join(dir, basename(script)))
  }
  return output.filter((file) => file.type === 'chunk')
}
