/**
 * A file system that is mounted outside while the sandbox runs. On many machines mounts are passed on to other
 * mount namespaces; the test makes them so in a namespace of its own, and needs root for that.
 */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installed, unavailable, variants } from './available.ts'
import { Box, collect } from './box.ts'

const OUTSIDE = `set -e
mount --make-rshared /
"$@" &
until [ -e "$WORK/ready" ]; do sleep 0.02; done
mount -t tmpfs -o mode=777 tmpfs "$OUTSIDE/mounted"
echo original >"$OUTSIDE/mounted/new"
touch "$WORK/go"
wait $! || true
ls -A "$OUTSIDE/mounted"`

const INSIDE =
  'echo >ready; until [ -e go ]; do sleep 0.02; done; echo x >"$OUTSIDE/mounted/written"; echo x >"$OUTSIDE/mounted/new"'

for (const what of unavailable) it.skip(`later mounts with ${what}`, () => {})

const own = variants.filter(({ user }) => user.uid === process.getuid?.())
const possible = process.getuid?.() === 0 && installed('unshare') && installed('mount')

it.skipIf(!possible).each(own)('$title does not let it be written', async ({ means, user }) => {
  const box = new Box(means, user)
  try {
    mkdirSync(join(box.outside, 'mounted'))
    const { command } = box.plan({ program: 'sh', args: ['-c', INSIDE] })
    const namespace = ['--mount', '--propagation', 'private', '--', 'sh', '-c', OUTSIDE, 'sh']
    const child = spawn('unshare', [...namespace, command.program, ...command.args], {
      cwd: '/',
      env: box.env(),
    })
    expect(await collect(child)).toMatchObject({ code: 0, stdout: 'new\n' })
  } finally {
    box.close()
  }
})
