/** What a guard adds to the start of a policed program. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installGuards, withGuards } from '../../src/process/guards.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'

const STARTS = 100
const FEW_STARTS = 5

export const guard: Benchmark = {
  name: 'guard',
  about: `${STARTS} consecutive starts of a program from a shell, with a guard that another process answers at once ÷ without a guard.`,
  run: async ({ short }) => {
    const starts = short ? FEW_STARTS : STARTS
    const dir = mkdtempSync(join(tmpdir(), 'reprise-guard-'))
    const plain = { PATH: process.env.PATH ?? '' }
    const guarded = withGuards(plain, installGuards({ dir, programs: ['uname', 'git'] }))
    const desk = spawn(process.execPath, [join(import.meta.dirname, '..', 'answers-guards.ts'), dir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    await once(desk.stdout, 'data')
    try {
      const times = await interleave(
        {
          uname: () => timeMs(() => startMany(starts, 'uname', plain)),
          guardedUname: () => timeMs(() => startMany(starts, 'uname', guarded)),
          git: () => timeMs(() => startMany(starts, 'git --version', plain)),
          guardedGit: () => timeMs(() => startMany(starts, 'git --version', guarded)),
        },
        short ? 1 : 30,
      )
      const added = times.guardedUname.map((ms, index) => ms - (times.uname[index] ?? Number.NaN))
      return [
        figure(`guarded − direct, ${starts} starts of uname`, 'ms', added, { most: 5 * starts, own: true }),
        figure('guarded ÷ direct, uname', '×', ratios(times.guardedUname, times.uname)),
        figure('guarded ÷ direct, git --version', '×', ratios(times.guardedGit, times.git)),
        figure(`guarded, ${starts} starts of uname`, 'ms', times.guardedUname),
        figure(`direct, ${starts} starts of uname`, 'ms', times.uname),
      ]
    } finally {
      desk.stdin.end()
      await once(desk, 'exit')
      rmSync(dir, { recursive: true })
    }
  },
}

async function startMany(starts: number, command: string, env: Record<string, string>): Promise<void> {
  const script = `i=0; while [ $i -lt ${starts} ]; do ${command} >/dev/null; i=$((i + 1)); done`
  const [code] = await once(spawn('/bin/sh', ['-c', script], { env, stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`${command} ended with ${code}`)
}
