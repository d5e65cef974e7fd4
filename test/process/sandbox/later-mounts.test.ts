/**
 * File systems that are mounted outside: while the sandbox runs, or before, in a folder that its user may not enter. On
 * many machines mounts are passed on to other mount namespaces; the tests make them so in a namespace of their own, and
 * need root for that.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { installed, unavailable, variants, withoutPerl } from './available.ts'
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

const CLOSED = `set -e
mount -t tmpfs -o mode=777 tmpfs "$CLOSED"
echo secret >"$CLOSED/file"
chmod 700 "$CLOSED/.."
exec setpriv --reuid "$NUMBER" --regid "$NUMBER" --clear-groups "$@"`

const others = [...variants, ...withoutPerl].filter(({ user }) => user.uid !== process.getuid?.())

it.skipIf(!possible || !installed('setpriv')).each(others)(
  '$title starts although there is one where it may not look',
  async ({ means, user }) => {
    const box = new Box(means, user)
    const closed = mkdtempSync('/var/tmp/reprise-closed-')
    try {
      mkdirSync(join(closed, 'folder/mounted'), { recursive: true })
      const env = { ...box.env(), CLOSED: join(closed, 'folder/mounted'), NUMBER: String(user.uid) }
      const { command } = box.plan({ program: 'sh', args: ['-c', 'echo started; cat "$CLOSED/file"'] })
      const namespace = ['--mount', '--propagation', 'private', '--', 'sh', '-c', CLOSED, 'sh']
      const child = spawn('unshare', [...namespace, command.program, ...command.args], { cwd: '/', env })
      expect(await collect(child)).toMatchObject({ code: 1, stdout: 'started\n' })
    } finally {
      box.close()
      rmSync(closed, { recursive: true, force: true })
    }
  },
)
