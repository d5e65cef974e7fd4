/** The variables of a process. Everything takes them as an argument; only this file looks at the real ones. */
export type Environment = Readonly<Record<string, string | undefined>>

export function processEnvironment(): Environment {
  return process.env
}
