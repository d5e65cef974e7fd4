/**
 * A sandbox is where the processes of a run live: what they can write, what is hidden from them, and what they can
 * reach is held by the kernel. This file has the port; it is implemented with bubblewrap (bubblewrap.ts) and with the
 * programs of util-linux (unshare.ts). Where neither works the kind is `none`: the command is run as it is. `detectSandbox`
 * chooses one.
 *
 * States of a sandbox:
 *   planned    `plan` has checked the input and computed the command. Nothing has been created.
 *   prepared   `prepareSandbox` has created the empty files and folders that serve as mount points.
 *   running    The keeper has started the command. The namespaces live exactly as long as the command.
 *   over       The command has ended, and with it every process inside. `removePlaceholders` tidies the work directory.
 *
 * Invariants, while it is running:
 *   - Only `writable` paths, private folders, `/dev/shm` and terminals can be written. `readOnly` paths cannot be
 *     written, replaced, or moved away together with a parent folder, even if they are inside a writable one.
 *   - A hidden path shows nothing of what is on the host, also if it is created or replaced later (limits: decision 41).
 *   - Processes outside cannot be seen, signalled or traced from inside.
 *   - No process inside has a capability or can gain one, and none can create a user namespace.
 *   - All processes inside die when the outer process of the command dies, and that dies when its parent, the keeper,
 *     dies. Nothing is tied to the daemon. SIGTERM, SIGINT and SIGHUP do not end the outer process: when they are sent
 *     to the process group, the program inside receives them itself.
 *   - The exit code is that of the program, or 128 + the number of the signal that ended it. Standard input, output
 *     and error are the caller's; other inherited descriptors are closed, or the program is not started.
 *
 * Precedence: of the paths that contain a file, the deepest one decides. So a writable folder can be inside a hidden one.
 */

export type SandboxKind = 'bubblewrap' | 'unshare' | 'none'

/** All paths are absolute. Symbolic links are resolved when the plan is made. */
export interface SandboxInput {
  /** Where the program starts. It is visible, but writable only if it is listed in `writable`. */
  workDir: string
  /** Existing files and folders. */
  writable: readonly string[]
  /**
   * Existing paths, and paths that may not be created: a missing one inside a writable folder is blocked by a placeholder.
   * A trailing slash says that a missing path would be a folder.
   */
  readOnly: readonly string[]
  /** Files, folders and sockets; they need not exist. A trailing slash says that a missing path would be a folder. */
  hidden: readonly string[]
  /** The folder that is seen as /tmp. It belongs to the session and outlives the process. */
  tmp: string
  /** Further folders of the session that are seen, writable, at the place of others, such as ~/.cache. */
  privateDirs: readonly { path: string; source: string }[]
  /** Files that are seen, read-only, in the place of existing ones, such as a program's. */
  replaced?: readonly { path: string; source: string }[]
  /**
   * `none` is a network namespace of its own in which only the loopback interface exists. A relay to the model is a program
   * inside that listens on that interface, forwards to a Unix socket in a visible folder, and starts the agent.
   */
  network: 'open' | 'none'
  /** An existing folder of the caller's, used by this process only, for mount points and empty files. */
  scratch: string
  /** The ids inside are those of the user outside. */
  uid: number
  gid: number
}

export interface SandboxCommand {
  program: string
  args: readonly string[]
}

/** An empty file or folder, or a symbolic link, that must exist before the command is started. */
export type PlannedFile =
  | { kind: 'dir'; path: string; mode: number }
  | { kind: 'file'; path: string; mode: number }
  | { kind: 'link'; path: string; target: string }

export interface SandboxPlan {
  ok: true
  kind: SandboxKind
  command: SandboxCommand
  files: readonly PlannedFile[]
  /** Those of `files` that are created in writable folders of the host, in order of creation. */
  placeholders: readonly string[]
  /** What the sandbox cannot guarantee for this input, in sentences for people. */
  warnings: readonly string[]
}

export interface SandboxProblem {
  code:
    | 'not-absolute'
    | 'reserved-path'
    | 'missing'
    | 'not-a-folder'
    | 'conflict'
    | 'work-dir-hidden'
    | 'leads-into-hidden'
    | 'replaceable-link'
  path: string
  message: string
}

export interface SandboxRefusal {
  ok: false
  problems: readonly SandboxProblem[]
}

export interface Sandbox {
  readonly kind: SandboxKind
  plan: (input: SandboxInput, command: SandboxCommand) => SandboxPlan | SandboxRefusal
}
