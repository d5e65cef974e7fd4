/** How an agent's own files look inside a sandbox. */

type Env = Readonly<Record<string, string>>

export interface EncloseInput {
  agentSessionId: string
  env: Env
  workDir: string
}

/**
 * Inside, only the files of this session can be written. Settings, plugins and logins can be read; the agent's other files are
 * private copies that no later process sees, because whatever is written in them may run with the rights of whoever reads them.
 */
export interface Enclosure {
  env: Env
  /** Folders of the session that are seen, writable, at the place of others. */
  privateDirs: readonly { path: string; source: string }[]
  /** Existing files and folders that can be read, inside of private folders. */
  readOnly: readonly string[]
  /**
   * Files and folders in the work directory that stay read-only: what is written in them would be obeyed by the next process that is
   * started there, perhaps outside a sandbox. One that is missing is an empty folder while the agent runs, which git does not commit.
   */
  workDirEntries: readonly string[]
  /** Folders that are removed when the session can no longer be resumed. */
  disposable: readonly string[]
}
