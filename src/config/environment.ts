/** The environment variables of a process. Code takes them as an argument; only this file reads the real ones. */
export type Environment = Readonly<Record<string, string | undefined>>

export function processEnvironment(): Environment {
  return process.env
}
