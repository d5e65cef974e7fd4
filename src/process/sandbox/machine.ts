/** Reads what explains whether a sandbox can work on this machine. */
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { MachineFacts } from './explain.ts'

export function readMachineFacts(): MachineFacts {
  return {
    isRoot: process.getuid?.() === 0,
    maxUserNamespaces: readNumber('/proc/sys/user/max_user_namespaces'),
    unprivilegedClone: readNumber('/proc/sys/kernel/unprivileged_userns_clone'),
    appArmorRestricts: readNumber('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    hasSeccompFilter: /^Seccomp:\s*2$/m.test(read('/proc/self/status') ?? ''),
    isContainer:
      existsSync('/.dockerenv') ||
      existsSync('/run/.containerenv') ||
      /docker|containerd|kubepods|libpod|lxc/.test(read('/proc/1/cgroup') ?? ''),
  }
}

/** System programs are often missing from the PATH of ordinary users. */
const SYSTEM_PATH = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** The absolute path of a program. null: it is not installed. */
export function findProgram(name: string, path: string): string | null {
  const dirs = [...path.split(delimiter).filter((dir) => dir.startsWith('/')), ...SYSTEM_PATH]
  return dirs.map((dir) => join(dir, name)).find(isExecutable) ?? null
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function readNumber(path: string): number | null {
  const text = read(path)
  return text === null ? null : Number(text.trim())
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
