/**
 * A world whose home is on a small disk of its own: a tmpfs in a mount namespace that only its daemon and agents are in.
 * Others reach it through /proc. It is gone with the last of those processes.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statfsSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { REPRISE, type World } from './world.ts'

const AS_ROOT = ['unshare', '--mount', '--propagation', 'private']
const AS_USER = ['unshare', '--user', '--map-root-user', '--mount', '--propagation', 'private']

const canMount = (unshare: readonly string[]) =>
  spawnSync(unshare[0] ?? '', [...unshare.slice(1), 'mount', '-t', 'tmpfs', 'none', '/mnt'], {
    timeout: 10_000,
  }).status === 0

/** The command that starts a program in a mount namespace; null if this machine does not allow it. */
export function findMounter(): readonly string[] | null {
  return [AS_ROOT, AS_USER].find(canMount) ?? null
}

const SCRIPT =
  'mount -t tmpfs -o "size=$1,mode=700" none "$2" && cat "$3" >"$2/config.yaml" && shift 3 && exec "$@"'

export class SmallDisk {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** Starts the daemon of the world with its home on a disk of this size. */
  static async start(world: World, mounter: readonly string[], bytes: number): Promise<SmallDisk> {
    const config = join(world.dir, 'config.yaml')
    writeFileSync(config, readFileSync(join(world.home, 'config.yaml')))
    const program = [...mounter, 'sh', '-c', SCRIPT, 'sh', String(bytes), world.home, config]
    await world.startDaemon({ program: [...program, REPRISE, 'up', '--foreground'] })
    const path = join('/proc', String(world.daemonPid), 'root', world.home)
    world.homeSeen = path
    return new SmallDisk(path)
  }

  get freeBytes(): number {
    const { bfree, bsize } = statfsSync(this.#path)
    return bfree * bsize
  }

  path(name: string): string {
    return join(this.#path, name)
  }

  /** Writes until nothing more can be written. */
  fill(): void {
    const filler = openSync(this.path('filler'), 'a')
    try {
      for (;;) writeSync(filler, Buffer.alloc(4096))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(filler)
    }
  }

  /** Leaves about this much free. */
  fillTo(freeBytes: number): void {
    writeFileSync(this.path('filler'), Buffer.alloc(Math.max(0, this.freeBytes - freeBytes)))
  }

  empty(): void {
    rmSync(this.path('filler'), { force: true })
  }
}
