/** What the broker adds to the start of a program, and to what goes through it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { installShims } from '../../src/process/broker/shims.ts'
import { detectSandbox } from '../../src/process/sandbox/detect.ts'
import { findProgram } from '../../src/process/sandbox/machine.ts'
import { planSandbox } from '../../src/process/sandbox/plan.ts'
import { prepareSandbox } from '../../src/process/sandbox/prepare.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios, timeMs } from '../measure.ts'

const STARTS = 50
const FEW_STARTS = 5
const BYTES = 100 << 20
const FEW_BYTES = 1 << 20
const PATH = process.env.PATH ?? ''

export const broker: Benchmark = {
  name: 'broker',
  about: `${STARTS} consecutive starts of a program from a shell in the sandbox that works here, through the broker, whose desk is another process − started directly; and ${BYTES >> 20} MB through a brokered cat ÷ through cat.`,
  run: async ({ short }) => {
    const [starts, bytes] = short ? [FEW_STARTS, FEW_BYTES] : [STARTS, BYTES]
    const pairs = short ? 1 : 20
    const dir = realpathSync(mkdtempSync('/var/tmp/reprise-broker-'))
    const shell = await openShell(dir)
    try {
      const loop = (command: string, target: string) => () =>
        timeMs(() =>
          shell.run(`i=0; while [ $i -lt ${starts} ]; do ${command} ${target}; i=$((i + 1)); done`),
        )
      const pipe = (command: string) => () =>
        timeMs(() => shell.run(`head -c ${bytes} /dev/zero | ${command} | cat >/dev/null`))
      const times = await interleave(
        {
          direct: loop('/bin/true', '</dev/null >/dev/null 2>&1'),
          brokered: loop('true-outside', '</dev/null >/dev/null 2>&1'),
          copied: loop('true-outside', '</dev/null >file 2>&1'),
        },
        pairs,
      )
      const volumes = await interleave({ direct: pipe('cat'), brokered: pipe('cat-outside') }, pairs)
      const added = (side: readonly number[]) =>
        side.map((ms, index) => (ms - (times.direct[index] ?? Number.NaN)) / starts)
      const megabytes = `${bytes >> 20} MB`
      return [
        figure('brokered − direct, one start', 'ms', added(times.brokered), { most: 15 }),
        figure('brokered with output to a file − direct, one start', 'ms', added(times.copied)),
        figure(`bytes/s, brokered ÷ plain pipe, ${megabytes}`, '×', ratios(volumes.direct, volumes.brokered)),
        figure(`direct, ${starts} starts`, 'ms', times.direct),
        figure(`brokered, ${starts} starts`, 'ms', times.brokered),
        figure(`${megabytes} through the broker`, 'ms', volumes.brokered),
      ]
    } finally {
      await shell.close()
      rmSync(dir, { recursive: true, force: true })
    }
  },
}

/** A shell in a sandbox, with the shims `true-outside` and `cat-outside` on its PATH. */
async function openShell(dir: string) {
  const at = (name: string) => join(dir, name)
  for (const name of ['work', 'shared', 'scratch', 'tmp']) mkdirSync(at(name))
  const { bin, asked } = installShims(at('shared'), ['true-outside', 'cat-outside'])
  const { means } = await detectSandbox({ path: PATH })
  const plan = planSandbox(
    {
      workDir: at('work'),
      writable: [at('work'), asked],
      hidden: [`${at('private')}/`],
      readOnly: [],
      privateDirs: [],
      network: 'open',
      ...{
        scratch: at('scratch'),
        tmp: at('tmp'),
        uid: process.getuid?.() ?? 0,
        gid: process.getgid?.() ?? 0,
      },
    },
    { program: '/bin/sh', args: [] },
    means,
  )
  if (!plan.ok) throw new Error(JSON.stringify(plan.problems))
  prepareSandbox(plan)
  const { program, args } = plan.command
  const sandbox = spawn(program, [...args], {
    cwd: at('work'),
    env: { PATH: `${bin}:${PATH}` },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const keeper = means.kind === 'none' ? 0 : process.pid
  const desk = spawn(
    process.execPath,
    [
      ...[join(import.meta.dirname, '..', 'answers-shims.ts'), at('shared'), at('private'), String(keeper)],
      ...['true', 'cat'].map((name) => `${name}-outside=${findProgram(name, PATH)}`),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  await once(desk.stdout, 'data')
  const lines = createInterface({ input: sandbox.stdout })
  return {
    run: async (script: string) => {
      sandbox.stdin.write(`${script}; echo done\n`)
      await once(lines, 'line')
    },
    close: async () => {
      sandbox.stdin.end()
      await once(sandbox, 'exit')
      desk.stdin.end()
      await once(desk, 'exit')
    },
  }
}
