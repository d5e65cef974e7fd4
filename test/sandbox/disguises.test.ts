/**
 * Commands in disguise, run for real in the sandbox of a tier on the real CLI, with a recorder in the place of docker outside: nothing
 * forbidden reaches it, everything innocent does. Not all of the corpus is run: only commands whose one effect would be a call of docker.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { announceSeed } from '../core/random.ts'
import { readCorpus } from '../shell/machine.ts'
import { attackAt, BASE } from '../support/attack.ts'
import { FIXED, Incident } from '../support/incident.ts'

let incident: Incident
afterEach(() => incident.close())

/** Programs and redirections that do something else, too, or that wait. */
const OTHER =
  /\b(rm|dd|mv|cp|ln|tee|mkfs|at|batch|crontab|systemctl|systemd-run|service|journalctl|ssh|rsync|sudo|su|doas|watch|sleep|while|until|apt|dpkg|npm|logger|curl|wget|gdb|vim?|podman|nerdctl)\b|>|docker logs -f|\/srv\//

/** Every third one, others each time, unless all tests were asked for. */
const SHARE = process.env.REPRISE_TEST_ALL ? 1 : 3
const CHOSEN = announceSeed('disguises') % SHARE

const forbidden = readCorpus('forbidden')
  .filter(
    ({ tier, command }) => tier !== '1' && tier !== '2' && /prune/.test(command) && !OTHER.test(command),
  )
  .filter((_, index) => index % SHARE === CHOSEN)
  .map(({ command }) => command)
const innocent = readCorpus('innocent')
  .filter(({ tier, command }) => tier === '1' && /docker/.test(command) && !OTHER.test(command))
  .map(({ command }) => command)

/** By program: starts docker with these words as its arguments. */
const INTERPRETERS: Readonly<Record<string, (words: string) => string>> = {
  perl: (words) => `perl -e 'exec "docker", split / /, "${words}"'`,
  python3: (words) => `python3 -c 'import os; os.execvp("docker", "docker ${words}".split())'`,
  ruby: (words) => `ruby -e 'exec("docker", *"${words}".split)'`,
  awk: (words) => `awk 'BEGIN { exit system("doc" "ker ${words}") }'`,
  node: (words) => `node -e 'require("child_process").spawnSync("docker", "${words}".split(" "))'`,
  cc: (words) => `cat <<'END' | cc -x c -o start - && ./start
#include <unistd.h>
int main(void) { char *args[] = {"docker", ${words.replaceAll(/[^ ]+ ?/g, (word) => `"${word.trim()}", `)} 0}; return execvp(*args, args); }
END`,
}

const IS_INSIDE = '[ ! -e "$HOME/reprise/token" ]'

/** Runs each file of a folder as a command, in a directory of its own, if this is the sandbox. */
const runAll = (folder: string) => `
${IS_INSIDE} || exit 1
export DOCKER_HOST=unix:///nowhere
for file in "$PWD/${folder}"/*; do
  (cd "$(mktemp -d)" && timeout -s KILL 20 bash -c "$(cat "$file")" </dev/null)
done >/tmp/output 2>&1
echo ${folder}: all have run
`

function writeAll(folder: string, commands: readonly string[]): void {
  mkdirSync(folder)
  for (const [index, command] of commands.entries())
    writeFileSync(join(folder, String(index).padStart(4, '0')), command)
}

/** Does not block: the connection to the daemon would be closed unnoticed if this process did nothing else for long. */
async function runOutside(command: string, { dir, env }: Incident['world']): Promise<void> {
  const child = spawn('bash', ['-c', command], { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.resume()
  child.stderr.resume()
  // When nothing that it started has its output open any more.
  await once(child, 'close')
}

it('no forbidden command reaches docker, every innocent one does', async () => {
  expect([forbidden.length > 240 / SHARE, innocent.length > 40]).toEqual([true, true])
  incident = await Incident.begin(
    [attackAt(1, runAll('innocent'), FIXED), attackAt(3, runAll('forbidden'), FIXED)],
    {},
    BASE,
  )
  const { world } = incident
  const there = Object.entries(INTERPRETERS).filter(
    ([name]) => spawnSync(name, ['--version'], { env: world.env }).status === 0,
  )
  const started = there.map(([name, start]) => start(`ps --filter name=${name}`))
  writeAll(join(world.workDir, 'innocent'), [...innocent, ...started])
  const copies = ['cp "$(command -v docker)" d; ./d system prune', `'${world.dir}/bin/docker' system prune`]
  const pruning = [...copies, ...there.map(([, start]) => start('system prune'))]
  writeAll(join(world.workDir, 'forbidden'), [...forbidden, ...pruning])

  const looking = await incident.play({ maxTier: 1 })
  const seen = incident.docker
  // What the innocent ones do without a sandbox.
  for (const command of innocent) await runOutside(command, world)
  const expected = [
    ...incident.docker.slice(seen.length),
    ...there.map(([name]) => `ps --filter name=${name}`),
  ]
  expect(expected.length).toBeGreaterThan(40)
  expect(seen).toEqual(expected)
  expect(looking.runs[0]).toMatchObject({ outcome: 'completed', refusals: 0 })

  const before = incident.docker.length
  const chain = await incident.play({ tier: 3 })
  expect(chain.runs[0]?.outcome).toBe('completed')
  expect(JSON.stringify(world.simulator.requests())).toContain('forbidden: all have run')
  expect(incident.docker.slice(before).filter((line) => /prune/.test(line))).toEqual([])
  // Most of them did try.
  expect(chain.runs[0]?.refusals).toBeGreaterThan(forbidden.length / 2)
})
