/**
 * The Unix socket over which commands and programs of this user call the daemon. It is `daemon.sock` in the home. If that
 * path is too long for a socket, or the file system has none, it is in a new private directory for temporary files, and
 * `daemon.json` says where.
 *
 * Before each request, the caller checks that the socket and its directory belong to this user and that nobody else can
 * replace it: then whoever listens there has the rights of this user, and may see the token.
 */
import { chmodSync, lstatSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { RepriseError } from '../contract/errors.ts'

const NAME = 'daemon.sock'
/** The kernel's limit is 108 bytes with the final zero; other systems have 104. */
const LONGEST_BYTES = 103
const TEMPORARY_PREFIX = 'reprise-socket-'

export interface OpenSocket {
  /** For `daemon.json`: relative to the home, or absolute. */
  published: string
  close: () => Promise<void>
}

type Listen = (path: string) => Promise<{ close: () => Promise<void> }>

/** `last` is what the previous daemon published; it may have ended without removing its socket. */
export async function openSocket(home: string, listen: Listen, last?: string): Promise<OpenSocket> {
  if (last !== undefined) removeTemporary(last)
  const inHome = join(home, NAME)
  rmSync(inHome, { force: true })
  if (Buffer.byteLength(inHome) <= LONGEST_BYTES) {
    const server = await listen(inHome).catch(() => null)
    if (server) {
      chmodSync(inHome, 0o600)
      return { published: NAME, close: server.close }
    }
  }
  const elsewhere = join(mkdtempSync(join(tmpdir(), TEMPORARY_PREFIX)), NAME)
  const server = await listen(elsewhere)
  chmodSync(elsewhere, 0o600)
  return {
    published: elsewhere,
    close: async () => {
      await server.close()
      removeTemporary(elsewhere)
    },
  }
}

function removeTemporary(socket: string): void {
  const dir = dirname(socket)
  if (!basename(dir).startsWith(TEMPORARY_PREFIX) || dirname(dir) !== tmpdir()) return
  const isOwn = lstatSync(dir, { throwIfNoEntry: false })?.uid === process.geteuid?.()
  if (isOwn) rmSync(dir, { recursive: true, force: true })
}

const WRITABLE_BY_OTHERS = 0o022

export class UntrustedSocket extends RepriseError {
  constructor(why: string, remedy: string) {
    super('home-unusable', `the daemon is not called, because ${why}`, { hint: remedy })
  }
}

/** Throws if another user could be listening on the socket. */
export function checkSocket(socket: string): void {
  const own = process.geteuid?.()
  const dir = dirname(socket)
  const asOwner = 'Run this as the owner of the home, or set REPRISE_HOME to another directory.'
  const { uid, mode } = statSync(dir)
  if (uid !== own) throw new UntrustedSocket(`${dir} belongs to another user (uid ${uid})`, asOwner)
  if ((mode & WRITABLE_BY_OTHERS) !== 0) {
    const how = `other users may write to ${dir} (mode ${(mode & 0o777).toString(8)})`
    throw new UntrustedSocket(how, `Run: chmod 700 ${dir}`)
  }
  const info = lstatSync(socket)
  if (!info.isSocket()) throw new UntrustedSocket(`${socket} is not a socket`, 'Restart the daemon.')
  if (info.uid !== own) {
    throw new UntrustedSocket(`${socket} belongs to another user (uid ${info.uid})`, asOwner)
  }
}
