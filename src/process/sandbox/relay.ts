/**
 * The only way out of a sandbox without a network: from a port of its own loopback interface, through a Unix socket in a folder that both
 * sides see, to the address of the model. It is a program of its own, started twice:
 *
 *   relay outside DIR HOST PORT raw|connect PROGRAM [ARG…]   listens on a socket in the folder and starts the sandbox
 *   relay inside  DIR PORT PROGRAM [ARG…]                    runs in the sandbox, listens on the port and starts the agent
 *
 * With `connect`, a connection must begin as one to a proxy does (CONNECT host:port), and only the model's host is accepted. That is for
 * addresses with TLS, whose certificate names the host. With `raw`, every connection leads to the model.
 *
 * Both end with the program that they started and with its exit code. They ignore the signals that are sent to the whole process group,
 * because the agent receives them itself. They depend on the keeper and not on the daemon.
 */
import { spawn } from 'node:child_process'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { constants } from 'node:os'

const SOCKET = 'model.sock'
const [role, dir = '', ...rest] = process.argv.slice(2)
const workDir = process.cwd()
// The path of a socket may have about 100 bytes, so it is given as a relative one.
process.chdir(dir)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

if (role === 'outside') {
  const [host = '', port = '', mode = '', ...command] = rest
  const target = { host, port: Number(port) }
  listen(
    createServer((socket) => (mode === 'raw' ? join(socket, connect(target)) : acceptProxy(socket, target))),
    { path: SOCKET },
    command,
  )
} else {
  const [port = '', ...command] = rest
  listen(
    createServer((socket) => join(socket, connect(SOCKET))),
    { host: '127.0.0.1', port: Number(port) },
    command,
  )
}

function listen(
  server: Server,
  at: { path: string } | { host: string; port: number },
  command: string[],
): void {
  server.once('error', (error) => {
    process.stderr.write(`relay: cannot listen: ${error.message}\n`)
    process.exit(126)
  })
  server.listen(at, () => {
    const [program = '', ...args] = command
    const child = spawn(program, args, { stdio: 'inherit', cwd: workDir })
    child.once('error', (error) => {
      process.stderr.write(`relay: cannot start ${program}: ${error.message}\n`)
      process.exit(126)
    })
    child.once('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
}

/** Ends both sides when one ends. */
function join(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.end())
    from.pipe(to)
  }
}

const MAX_HEAD_BYTES = 8192

function acceptProxy(socket: Socket, target: { host: string; port: number }): void {
  let head = Buffer.alloc(0)
  const refuse = (status: string) => void socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`)
  const read = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) {
      if (head.length > MAX_HEAD_BYTES) refuse('431 Request Header Fields Too Large')
      return
    }
    socket.off('data', read)
    const asked = /^CONNECT (\S+) HTTP\/1\.[01]\r\n/.exec(
      `${head.subarray(0, end).toString('latin1')}\r\n`,
    )?.[1]
    if (asked?.toLowerCase() !== `${target.host}:${target.port}`.toLowerCase()) return refuse('403 Forbidden')
    socket.pause()
    const upstream = connect(target, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      const begun = head.subarray(end + 4)
      if (begun.length > 0) upstream.write(begun)
      join(socket, upstream)
      socket.resume()
    })
    upstream.once('error', () => refuse('502 Bad Gateway'))
  }
  socket.on('error', () => {})
  socket.on('data', read)
}
