/** Problems of the configuration, for people and for programs. */
import { RepriseError } from '../contract/errors.ts'

/** Keys from the root to a setting. */
export type SettingPath = readonly PropertyKey[]

export type ConfigProblem = {
  /** The file or the environment variable. */
  source: string
  line?: number
  column?: number
  /** Path of the setting, `server.port`; empty for the file as a whole. */
  key: string
  message: string
}

export function showPath(path: SettingPath): string {
  return path.map(String).join('.')
}

export function configError(problems: readonly ConfigProblem[]): RepriseError {
  const heading =
    problems.length === 1
      ? 'The configuration has a problem:'
      : `The configuration has ${problems.length} problems:`
  return new RepriseError(
    'config-invalid',
    [heading, ...problems.map((problem) => `  ${showProblem(problem)}`)].join('\n'),
    {
      hint: 'Correct the listed settings and try again. Nothing was started.',
      details: { problems },
    },
  )
}

export function showProblem({ source, line, column, key, message }: ConfigProblem): string {
  const place = line === undefined ? source : `${source}:${line}:${column ?? 1}`
  return key ? `${place} ${key}: ${message}` : `${place} ${message}`
}
