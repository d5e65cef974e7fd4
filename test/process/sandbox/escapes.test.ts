/**
 * The suite of escapes, on every sandbox that works here, as every user that can be tested here. Attacks run one after
 * the other in one sandbox, because a start of their own for each would take minutes; if there was harm, each is
 * repeated in a sandbox of its own to find out which one did it.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, closeSync, copyFileSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SandboxKind } from '../../../src/process/sandbox/sandbox.ts'
import { installed, unavailable, variants } from './available.ts'
import { Box, collect, type Ended } from './box.ts'
import { ESCAPES, type Escape } from './escapes.ts'
import { Surroundings } from './surroundings.ts'

for (const what of unavailable) it.skip(`escapes with ${what}`, () => {})

describe.each(variants)('$title', ({ means, user }) => {
  let box: Box
  let around: Surroundings

  beforeAll(async () => {
    box = new Box(means, user)
    around = new Surroundings(box)
    addPrivilegedFiles(box)
    await around.open()
  })
  afterAll(async () => {
    await around.close()
    box.close()
  })

  for (const attack of ESCAPES) {
    const why = whySkipped(attack, user.uid, means.kind)
    if (why) it.skip(`${attack.name}: ${why}`, () => {})
  }
  const possible = ESCAPES.filter((attack) => !whySkipped(attack, user.uid, means.kind))
  const groups = Map.groupBy(possible, (attack) =>
    attack.alone
      ? attack.name
      : `network ${attack.network ?? 'open'}${attack.descriptors ? ', descriptors left open' : ''}`,
  )
  for (const [title, attacks] of groups) {
    it(`${title}: ${attacks.length} ${attacks.length > 1 ? 'attacks have' : 'attack has'} no effect`, async () => {
      const ended = await makeAttacks(attacks)
      const harm = around.findHarm(ended)
      const culprits: Record<string, string[]> = {}
      if (harm.length > 0 && attacks.length > 1)
        for (const attack of attacks) {
          const found = around.findHarm(await makeAttacks([attack]))
          if (found.length > 0) culprits[attack.name] = found
        }
      expect({ harm, culprits }).toEqual({ harm: [], culprits: {} })
      expect(ended.stderr, 'the sandbox itself works').not.toMatch(/^(bwrap|sandbox): /m)
      if (!attacks[0]?.alone)
        expect(ended.stdout, 'all attacks were made').toMatch(/all attacks were made\n$/)
    })
  }

  async function makeAttacks(attacks: readonly Escape[]): Promise<Ended> {
    await around.note()
    const { network = 'open', descriptors } = attacks[0] ?? {}
    const script = attacks.map((attack) => `(cd "$WORK"; ${attack.script}\n) 2>&1`).join('\n')
    return withDescriptors(box, descriptors === true, (stdio) =>
      box.sh(`${script}\necho all attacks were made`, { env: around.env(), input: { network }, stdio }),
    )
  }
})

/** Without a sandbox the same scripts do harm; otherwise the suite would prove nothing. */
describe('without a sandbox', () => {
  const user = { name: 'self', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  for (const attack of ESCAPES.filter(({ control }) => control)) {
    const why = whySkipped(attack, user.uid, 'none')
    it.skipIf(why)(`${attack.name}${why ? `: ${why}` : ''}`, async () => {
      const box = new Box({ kind: 'none' }, user)
      const around = new Surroundings(box)
      try {
        addPrivilegedFiles(box)
        await around.open()
        await around.note()
        const ended = await withDescriptors(box, attack.descriptors === true, (stdio) =>
          collect(spawn('sh', ['-c', attack.script], { cwd: box.work, env: box.env(around.env()), stdio })),
        )
        expect(around.findHarm(ended)).not.toEqual([])
      } finally {
        await around.close()
        box.close()
      }
    })
  }
})

type Stdio = (number | 'pipe' | 'ignore')[]

/** Low numbers, which every shell can close, and high ones. */
async function withDescriptors<T>(box: Box, wanted: boolean, work: (stdio: Stdio) => Promise<T>): Promise<T> {
  const stdio: Stdio = ['ignore', 'pipe', 'pipe']
  if (!wanted) return work(stdio)
  const opened = [openSync(box.outside, 'r'), openSync(join(box.outside, 'file'), 'r+')]
  try {
    return await work([
      ...stdio,
      ...opened,
      ...Array.from({ length: 20 }, () => 'ignore' as const),
      ...opened,
    ])
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

/** A program that is setuid root if root runs the tests, and a device. */
function addPrivilegedFiles(box: Box): void {
  const path = join(box.dir, 'setuid-id')
  copyFileSync('/usr/bin/id', path)
  chmodSync(path, 0o4755)
  // The same device as /dev/null.
  if (process.getuid?.() === 0) execFileSync('mknod', [join(box.dir, 'null-device'), 'c', '1', '3'])
}

function whySkipped(
  { needs = [], only, notHeldBy }: Escape,
  uid: number,
  kind: SandboxKind,
): string | undefined {
  if (notHeldBy === kind) return `${kind} does not hold this for root`
  const missing = needs.filter((program) => !installed(program))
  if (missing.length > 0) return `${missing.join(', ')} not installed`
  if (only === 'other' && (uid === 0 || process.getuid?.() !== 0))
    return 'needs root outside and another user inside'
  if (only === 'root' && uid !== 0) return 'only for root'
  return undefined
}
