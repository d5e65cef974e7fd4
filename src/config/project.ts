/**
 * `reprise.yaml` in a work directory. It may be part of a cloned repository and thus written by a stranger. So it applies only after a
 * person has trusted the directory, only to runs in that directory, and it can only make them stricter. Everything else, and everything
 * that concerns the daemon, belongs into config.yaml of the home.
 */
import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PermissionMode } from '../contract/create-run.ts'
import { checkSource } from './check-source.ts'
import { type ConfigProblem, showProblem } from './problem.ts'
import { problemAt, type Source } from './source.ts'
import { parseYamlSource, readSettingsFile } from './yaml-source.ts'

export interface ProjectFile {
  path: string
  /** null: it cannot be read. */
  bytes: Buffer | null
  /** Why it has no effect. */
  problems: ConfigProblem[]
  limits: ProjectLimits
  /** Its settings, one a line, for people. */
  settings: string[]
}

export interface ProjectLimits {
  permissions?: PermissionMode | undefined
  sandbox?: true | undefined
  dryRun?: true | undefined
  maxTier?: number | undefined
  /** Added to the policy of the configuration. */
  policy?: { never: readonly string[]; protectedPaths: readonly string[] } | undefined
}

const NAME = 'reprise.yaml'

const ALLOWED: readonly (readonly string[])[] = [
  ['run', 'permissions'],
  ['run', 'sandbox'],
  ['dryRun'],
  ['maxTier'],
  ['policy', 'never'],
  ['policy', 'protectedPaths'],
]

/** The nearest one: in the directory, or in a folder above it up to the top of its repository. null: there is none. */
export function findProjectFile(dir: string): ProjectFile | null {
  const path = join(dir, NAME)
  if (lstatSync(path, { throwIfNoEntry: false })) return readProjectFile(path)
  const isTop = lstatSync(join(dir, '.git'), { throwIfNoEntry: false }) !== undefined
  return isTop || !isInRepository(dir) ? null : findProjectFile(dirname(dir))
}

function isInRepository(dir: string): boolean {
  if (lstatSync(join(dir, '.git'), { throwIfNoEntry: false })) return true
  return dirname(dir) === dir ? false : isInRepository(dirname(dir))
}

function readProjectFile(path: string): ProjectFile {
  const read = readSettingsFile(path)
  if (read === undefined || Array.isArray(read))
    return { path, bytes: null, problems: read ?? [], limits: {}, settings: [] }
  const bytes = Buffer.from(read)
  const source = parseYamlSource(path, read)
  if (Array.isArray(source)) return { path, bytes, problems: source, limits: {}, settings: [] }
  const problems = [...checkSource(source), ...forbidden(source)]
  return {
    path,
    bytes,
    problems,
    limits: problems.length > 0 ? {} : limitsOf(source.value as Settings),
    settings: leavesOf(source.value).map(
      ({ path: key, value }) => `${key.join('.')}: ${JSON.stringify(value)}`,
    ),
  }
}

function forbidden(source: Source): ConfigProblem[] {
  return leavesOf(source.value)
    .map(({ path }) => path)
    .filter((path) => !ALLOWED.some((allowed) => allowed.every((key, at) => path[at] === key)))
    .map((path) =>
      problemAt(source, path, 'cannot be set in a project file: move it to config.yaml of the home'),
    )
}

interface Settings {
  run?: { permissions?: PermissionMode; sandbox?: 'on' | 'off' }
  dryRun?: boolean
  maxTier?: number
  policy?: { never?: string[]; protectedPaths?: string[] }
}

/** `settings` match the schema. */
function limitsOf({ run, dryRun, maxTier, policy }: Settings): ProjectLimits {
  return {
    ...(run?.permissions ? { permissions: run.permissions } : {}),
    ...(run?.sandbox === 'on' ? { sandbox: true } : {}),
    ...(dryRun ? { dryRun } : {}),
    ...(maxTier === undefined ? {} : { maxTier }),
    ...(policy ? { policy: { never: policy.never ?? [], protectedPaths: policy.protectedPaths ?? [] } } : {}),
  }
}

function leavesOf(
  value: unknown,
  path: readonly string[] = [],
): { path: readonly string[]; value: unknown }[] {
  const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isMapping) return path.length === 0 ? [] : [{ path, value }]
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]))
}

export const explainProject = ({ problems }: ProjectFile) => problems.map(showProblem)
