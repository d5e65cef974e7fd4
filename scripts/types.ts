/**
 * Writes one type declaration file per entry of the package, and one per part that entries share. The compiler writes a
 * declaration for every module first; bundling those needs no compiler and leaves out what no entry exports.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

export async function writeTypes(
  root: string,
  entries: Record<string, string>,
  target: string,
): Promise<void> {
  const modules = mkdtempSync(join(tmpdir(), 'reprise-types-'))
  try {
    const compiler = join(root, 'node_modules', '.bin', 'tsc')
    execFileSync(compiler, ['--project', join(root, 'tsconfig.types.json'), '--outDir', modules], {
      stdio: 'inherit',
    })
    const input = Object.fromEntries(
      Object.entries(entries).map(([name, file]) => [
        name,
        join(modules, declarationOf(file.replace(/^src\//, ''))),
      ]),
    )
    const bundle = await rolldown({
      cwd: modules,
      input,
      // Only names of this package are resolved. Those of others are imported where they are used.
      external: (id) => !/^[./]/.test(id),
      plugins: [besideSources(), dts({ dtsInput: true })],
      logLevel: 'silent',
    })
    rmSync(target, { recursive: true, force: true })
    await bundle.write({ dir: target, format: 'esm', chunkFileNames: 'types-[hash].d.ts' })
    await bundle.close()
  } finally {
    rmSync(modules, { recursive: true, force: true })
  }
}

const declarationOf = (file: string) => file.replace(/\.ts$/, '.d.ts')

/** In a declaration the compiler leaves the names of modules as they are in the source. */
function besideSources() {
  return {
    name: 'beside-sources',
    resolveId: (id: string, importer: string | undefined) =>
      importer !== undefined && /^\.{1,2}\/.*(?<!\.d)\.ts$/.test(id)
        ? { id: join(importer, '..', declarationOf(id)) }
        : null,
  }
}
