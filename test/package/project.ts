/** An empty project into which the packed package is installed, without network: what a user of Reprise has. */
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { bundleAll, ENTRIES } from '../../scripts/bundle.ts'
import { writeTypes } from '../../scripts/types.ts'

const run = promisify(execFile)

const ROOT = resolve(import.meta.dirname, '../..')
const NPM_FLAGS = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']

export interface Project {
  dir: string
  /** The files of the package. */
  files: string[]
  /** Runs a program in the project. Its environment has nothing else of this machine. */
  run: (
    file: string,
    args: readonly string[],
    env?: Record<string, string>,
  ) => Promise<{ stdout: string; stderr: string; code: number }>
  write: (file: string, text: string) => string
  close: () => void
}

/** Builds the package from the sources in a directory of its own, so that nobody else's bundle changes meanwhile. */
export async function installedProject(): Promise<Project> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-package-')))
  const [staging, dir] = [join(base, 'staging'), join(base, 'project')]
  for (const path of [staging, dir]) mkdirSync(path)
  for (const name of [
    'package.json',
    'bin',
    'docs',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'src',
    'scripts',
  ]) {
    cpSync(join(ROOT, name), join(staging, name), { recursive: true })
  }
  await bundleAll(ROOT, join(staging, 'dist'))
  await writeTypes(ROOT, ENTRIES, join(staging, 'dist', 'types'))

  const pack = async (from: string) => {
    const { stdout } = await run('npm', ['pack', from, '--json', '--pack-destination', base, ...NPM_FLAGS], {
      cwd: base,
    })
    const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }]
    return { file: join(base, packed.filename), files: packed.files.map(({ path }) => path) }
  }
  const reprise = await pack(staging)
  const zod = await pack(join(ROOT, 'node_modules', 'zod'))
  writeFileSync(
    join(dir, 'package.json'),
    JSON.stringify({
      name: 'somebody',
      type: 'module',
      dependencies: { reprise: `file:${reprise.file}`, zod: `file:${zod.file}` },
    }),
  )
  await run('npm', ['install', '--omit=optional', ...NPM_FLAGS], { cwd: dir })
  return {
    dir,
    files: reprise.files,
    run: async (file, args, env = {}) => {
      try {
        const done = await run(file, args, { cwd: dir, env: { HOME: base, ...env } })
        return { ...done, code: 0 }
      } catch (error) {
        const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: number }
        return { stdout, stderr, code }
      }
    },
    write: (name, text) => {
      const file = join(dir, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      return file
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** Makes a file of this checkout's node_modules look as if the project had installed it. */
export function install(project: Project, path: string): void {
  const target = join(project.dir, 'node_modules', path)
  mkdirSync(dirname(target), { recursive: true })
  symlinkSync(realpathSync(join(ROOT, 'node_modules', path)), target)
}

/** A Node on PATH that is older than the engine needs, but new enough for the client; null if there is none. */
export function findOldNode(): string | null {
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    try {
      const file = join(dir, 'node')
      const [, major] = /^v(\d+)/.exec(execFileSync(file, ['--version'], { encoding: 'utf8' })) ?? []
      if (Number(major) >= 20 && Number(major) < 24) return file
    } catch {
      // There is no Node in this directory.
    }
  }
  return null
}
