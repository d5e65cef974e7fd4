/**
 * What both implementations put around the program.
 *
 * Outside: SIGTERM, SIGINT and SIGHUP are ignored by the outer process, which would otherwise end, and the kernel would
 * kill everything inside before the program could react. Ignored signals are inherited, so inside they are reset.
 *
 * Inside: process 1 of the namespace is a shell that waits for the program. It reaps orphans, it passes the exit
 * code on, and when it ends the kernel kills whatever the program has left running. The kernel delivers no signal to it that it does not
 * handle, so nothing inside can kill it.
 */
import type { SandboxCommand } from './sandbox.ts'

const SIGNALS = 'TERM,INT,HUP'

/**
 * A descriptor of a folder outside would lead out of the sandbox, and whoever started the daemon may have left some open.
 * bash can close all of them; other shells only those up to 9, and if there are others the program is not started.
 */
const INIT = `for sandbox_fd in /proc/self/fd/*; do
  [ -L "$sandbox_fd" ] || continue
  sandbox_fd=\${sandbox_fd##*/}
  case $sandbox_fd in
    [012]) ;;
    ?) eval "exec $sandbox_fd>&-" ;;
    *)
      if [ -z "$BASH_VERSION" ]; then
        echo "sandbox: descriptor $sandbox_fd is open and cannot be closed without bash; the program is not started" >&2
        exit 126
      fi
      eval "exec $sandbox_fd>&-"
      ;;
  esac
done
unset sandbox_fd
"$@"
exit $?`

export interface InnerTools {
  env: string
  /** bash, if it is installed, or another shell. */
  shell: string
}

/** `env` here and below is the program that changes how signals are handled (GNU coreutils 8.31 and later). */
export const ignoringSignals = ({ env }: InnerTools) => [env, `--ignore-signal=${SIGNALS}`]

export const asInit = ({ env, shell }: InnerTools, { program, args }: SandboxCommand) => [
  // Privileged mode: bash then imports no function from the environment. It would read ~/.bashrc if its input were a socket.
  ...[shell, ...(shell.endsWith('/bash') ? ['--norc', '-p'] : []), '-c', INIT, 'sandbox-init'],
  ...[env, `--default-signal=${SIGNALS}`, '--', program, ...args],
]

export function commandOf(argv: readonly string[]): SandboxCommand {
  const [program = '', ...args] = argv
  return { program, args }
}
