/** With perl and without, the sandbox of util-linux has the same mounts. So the suites need to run with one of them only. */
import { expect, it, onTestFinished } from 'vitest'
import { variants, withoutPerl } from './available.ts'
import { Box } from './box.ts'

/** The mounts that can be reached inside: what others mount elsewhere on the machine in the meantime is no difference. */
const REACHABLE =
  'while read -r a b c d at rest; do [ ! -e "$at" ] || echo "$a $b $c $d $at $rest"; done </proc/self/mountinfo'

if (withoutPerl.length === 0)
  it.skip('mounts with and without perl: perl or the sandbox of util-linux does not work here', () => {})

it.each(withoutPerl)('$title has the same mounts as with perl', async ({ means, user }) => {
  const withPerl = variants.find((one) => one.means.kind === 'unshare' && one.user === user)
  expect(await mountsOf(means)).toEqual(await mountsOf(withPerl?.means ?? means))

  async function mountsOf(used: typeof means): Promise<Record<string, string>> {
    const box = new Box(used, user)
    onTestFinished(() => box.close())
    const { stdout, stderr, code } = await box.sh(REACHABLE)
    expect([code, stderr]).toEqual([0, ''])
    // If there are several at one place, the last one is seen.
    const mounts = new Map(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => mountOf(line.replaceAll(box.dir, 'BOX'))),
    )
    expect(mounts.size).toBeGreaterThan(20)
    return Object.fromEntries(mounts)
  }
})

/** Where it is, and what is mounted there, how. */
function mountOf(line: string): [at: string, what: string] {
  const [, , , from, at = '', options] = line.split(' ')
  return [at, `${line.split(' - ')[1]?.split(' ')[0]} ${from} ${options}`]
}
