/**
 * Finds process 1 of a sandbox as seen from outside. It exists as long as the sandbox, and through `/proc/<pid>/root/proc` the
 * processes inside are reached by their own numbers.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** `keeper` is the pid of a process outside that started the sandbox, directly or through others. null: there is none. */
export function findSandboxRoot(keeper: number): number | null {
  const depth = namespaceDepth(keeper)
  for (const pid of descendantsOf(keeper)) if (namespaceDepth(pid) > depth) return pid
  return null
}

/** Breadth first, so the first process in a namespace of its own is process 1 of that namespace. */
function* descendantsOf(pid: number): Generator<number> {
  for (let level = childrenOf(pid); level.length > 0; level = level.flatMap(childrenOf)) yield* level
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    // It has ended.
    return []
  }
}

/** In how many pid namespaces the process is seen, from ours inwards. 0: it has ended. */
function namespaceDepth(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    return /^NSpid:\s+(.*)$/m.exec(status)?.[1]?.trim().split(/\s+/).length ?? 0
  } catch {
    return 0
  }
}
