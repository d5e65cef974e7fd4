/** Tests whether a keeper on this machine can mark its processes by a limit, in the same way as the keeper does it. */
import { spawnSync } from 'node:child_process'
import { carriesLockLimit, planLockLimit, readOwnLimits } from './lock-limit.ts'

const ID = 'probe'

export function canMarkByLimit(): boolean {
  const limit = planLockLimit(ID, readOwnLimits())
  if (limit === null) return false
  const set = `ulimit -S -w "$0" 2>/dev/null || ulimit -S -x "$0" 2>/dev/null; exec env -i cat /proc/self/limits`
  const { stdout } = spawnSync('/bin/sh', ['-c', set, `${limit.value}`], { encoding: 'utf8', timeout: 5000 })
  return carriesLockLimit(stdout ?? '', ID)
}
