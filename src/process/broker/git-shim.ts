/** Installs the stand-in for git, of which only a push goes through the broker (git-shim.sh). */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkShim } from './shims.ts'

const SCRIPT = fileURLToPath(new URL('git-shim.sh', import.meta.url))

/** `shared` is the folder in which the shims have been installed. Returns where the sandbox must show the real git. */
export function installGitShim(shared: string): { real: string } {
  const [real, brokered] = [join(shared, 'real', 'git'), join(shared, 'brokered', 'git')]
  for (const folder of ['real', 'brokered']) mkdirSync(join(shared, folder), { recursive: true, mode: 0o700 })
  writeFileSync(real, '', { flag: 'a', mode: 0o600 })
  linkShim(join(shared, 'shim'), brokered)
  const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`
  const text = readFileSync(SCRIPT, 'utf8')
    .replace('@REAL@', () => quoted(real))
    .replace('@BROKERED@', () => quoted(brokered))
  const path = join(shared, 'bin', 'git')
  writeFileSync(`${path}.new`, text, { mode: 0o700 })
  chmodSync(`${path}.new`, 0o700)
  renameSync(`${path}.new`, path)
  return { real }
}
