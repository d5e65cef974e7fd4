/**
 * Trust in the content of work directories.
 *
 * A decision of a person is stored with the paths and hashes of the files that they were shown. The content of a directory is trusted if
 * every one of its files is, with its present hash, in a decision about that directory or about a folder above it. So nested
 * directories need no decision of their own unless they add something; a changed, added or exchanged file makes the content untrusted
 * until somebody decides again; and a file that cannot be read (a FIFO, a device, too large) is never trusted.
 *
 * This is checked before each start of an agent. Unless the content is trusted, the adapter starts the agent in a way that excludes all
 * of it, also files that appear after the check.
 */
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import type { ContentFile, DirectoryContent, DirectoryPlan } from '../../agents/directory-content.ts'
import type { AgentRegistry, ConfiguredAgent } from '../../agents/registry.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { DirectorySettings, DirectoryTrust, TrustState } from '../../contract/trust.ts'
import type { Clock } from '../../core/clock.ts'
import type { Store } from '../../store/store.ts'
import type { TrustDecision } from '../../store/trust/store.ts'
import { checkWorkDir } from '../base/work-dir.ts'
import type { TrustEngine } from './api.ts'
import type { ProjectFile } from './project.ts'

export interface TrustDeps {
  store: Pick<Store, 'listTrustDecisions' | 'findTrustDecisions' | 'putTrustDecision' | 'removeTrustDecision'>
  agents: Pick<AgentRegistry, 'all'>
  clock: Clock
  /** Reprise's own settings in a directory. null: there are none. */
  readProject: (workDir: string) => Promise<ProjectFile | null>
}

export interface AttemptTrust {
  settings: DirectorySettings
  plan: DirectoryPlan
  /** For people: what does not apply, and how to change that. */
  note: string | null
}

export class Trust implements TrustEngine {
  readonly #deps: TrustDeps

  constructor(deps: TrustDeps) {
    this.#deps = deps
  }

  /** `workDir` is a real path. `never`: the run does not use the content of its directory, trusted or not. */
  async forAttempt(
    { adapter, env }: Pick<ConfiguredAgent, 'adapter' | 'env'>,
    workDir: string,
    { never }: { never: boolean },
  ): Promise<AttemptTrust> {
    const content = (await adapter.readDirectory?.(workDir, env)) ?? NOTHING
    const isThere = content.files.length > 0 || content.problems.length > 0
    const applies = isThere && !never && (await this.#isTrusted(workDir, content))
    const instructions = applies ? null : ((await adapter.readInstructions?.(workDir, env)) ?? null)
    return {
      settings: applies ? 'applied' : isThere ? 'ignored' : 'none',
      plan: { workDir, applies, instructions },
      note: !isThere || applies || never ? null : noteOn(workDir, content),
    }
  }

  /** Reprise's own settings in the directory, if they are trusted. */
  async readProject(workDir: string): Promise<{ file: ProjectFile | null; note: string | null }> {
    const file = await this.#deps.readProject(workDir)
    if (file === null) return { file: null, note: null }
    const [problem] = [...file.problems, ...file.mistakes]
    const ignored = (why: string) => ({ file: null, note: `${file.path} does not apply: ${why}` })
    if (problem !== undefined) return ignored(problem)
    if (await this.#isTrusted(workDir, file)) return { file, note: null }
    return ignored(
      `the directory is not trusted. To see what it sets, and to decide: reprise trust ${workDir}`,
    )
  }

  async #isTrusted(dir: string, { files, problems }: Omit<DirectoryContent, 'grants'>): Promise<boolean> {
    if (problems.length > 0) return false
    const decisions = await this.#deps.store.findTrustDecisions(foldersAbove(dir))
    return isCovered(files, decisions)
  }

  inspectTrust: TrustEngine['inspectTrust'] = async (asked) => {
    const dir = await checkWorkDir(asked)
    const content = await this.#readAll(dir)
    return this.#describe(dir, content)
  }

  async #describe(dir: string, content: DirectoryContent): Promise<DirectoryTrust> {
    const decisions = await this.#deps.store.findTrustDecisions(foldersAbove(dir))
    const { grants, problems } = content
    const digest = digestOf(content)
    return {
      dir,
      state: stateOf(dir, content, digest, decisions),
      digest,
      grants: [...grants],
      problems: [...problems],
    }
  }

  /** The content for every agent, because any of them may be asked to work there. */
  async #readAll(dir: string): Promise<DirectoryContent> {
    const found: DirectoryContent[] = []
    for (const { adapter, env } of this.#deps.agents.all()) {
      const content = await adapter.readDirectory?.(dir, env)
      if (content) found.push(content)
    }
    const project = await this.#deps.readProject(dir)
    if (project) found.push(project)
    return {
      files: unique(
        found.flatMap(({ files }) => files),
        ({ path }) => path,
      ),
      grants: unique(
        found.flatMap(({ grants }) => grants),
        ({ file, kind, text }) => JSON.stringify([file, kind, text]),
      ),
      problems: unique(
        found.flatMap(({ problems }) => problems),
        (text) => text,
      ),
    }
  }

  listTrust: TrustEngine['listTrust'] = async () =>
    (await this.#deps.store.listTrustDecisions()).map(({ dir, decision, files, decidedAt }) => ({
      dir,
      decision,
      files: decision === 'trust' ? files.map(({ path }) => path) : [],
      decidedAt: decidedAt.toISOString(),
    }))

  decideTrust: TrustEngine['decideTrust'] = async ({ dir: asked, digest, decision }) => {
    const dir = await checkWorkDir(asked)
    const content = await this.#readAll(dir)
    if (digestOf(content) !== digest) {
      throw new RepriseError('conflict', `the content of ${dir} has changed since it was shown`, {
        hint: `Look at it again: reprise trust ${dir}`,
      })
    }
    if (decision === 'trust' && content.problems.length > 0) {
      throw new RepriseError('conflict', `${dir} cannot be trusted: ${content.problems[0]}`, {
        hint: 'Remove or replace that file.',
      })
    }
    const decidedAt = this.#deps.clock.now()
    await this.#deps.store.putTrustDecision({ dir, decision, digest, files: content.files, decidedAt })
    return this.#describe(dir, content)
  }

  revokeTrust: TrustEngine['revokeTrust'] = async (dir) => {
    // The directory may be gone, so its path is used as it is if it has no real one.
    const real = await checkWorkDir(dir).catch(() => dir)
    if (await this.#deps.store.removeTrustDecision(real)) return
    throw new RepriseError('not-found', `nothing was decided about ${real}`, {
      hint: 'List the decisions with: reprise trust list',
    })
  }
}

const NOTHING: DirectoryContent = { files: [], grants: [], problems: [] }

function stateOf(
  dir: string,
  { files, problems }: DirectoryContent,
  digest: string,
  decisions: readonly TrustDecision[],
): TrustState {
  if (problems.length > 0) return 'unusable'
  if (files.length === 0) return 'nothing'
  const own = decisions.find((decision) => decision.dir === dir)
  if (own?.decision === 'decline' && own.digest === digest) return 'declined'
  if (isCovered(files, decisions)) return 'trusted'
  return own?.decision === 'trust' ? 'changed' : 'untrusted'
}

function isCovered(files: readonly ContentFile[], decisions: readonly TrustDecision[]): boolean {
  const trusted = new Set(
    decisions.filter(({ decision }) => decision === 'trust').flatMap((one) => one.files.map(keyOf)),
  )
  return files.every((file) => trusted.has(keyOf(file)))
}

const keyOf = ({ path, hash }: ContentFile) => `${hash} ${path}`

const digestOf = ({ files, problems }: DirectoryContent) =>
  createHash('sha256')
    .update(JSON.stringify([files.map(keyOf).toSorted(), problems.toSorted()]))
    .digest('hex')

function noteOn(workDir: string, { grants, problems }: DirectoryContent): string {
  const why = problems[0] === undefined ? 'is not trusted' : `cannot be trusted (${problems[0]})`
  const what = Object.entries(NAMES).flatMap(([kind, name]) => {
    const count = grants.filter((grant) => grant.kind === kind).length
    return count === 0 ? [] : [`${count} ${name}${count > 1 ? 's' : ''}`]
  })
  return `The directory ${why}: its settings do not apply${what.length > 0 ? ` (${what.join(', ')})` : ''}. To see what they are, and to decide: reprise trust ${workDir}`
}

const NAMES: Readonly<Record<DirectoryContent['grants'][number]['kind'], string>> = {
  hook: 'hook',
  'mcp-server': 'MCP server',
  permission: 'permission rule',
  setting: 'setting',
  command: 'command',
  agent: 'agent',
  skill: 'skill',
  reprise: 'setting of Reprise',
  file: 'other file',
}

/** The directory itself first. */
function foldersAbove(dir: string): string[] {
  const above = dirname(dir)
  return above === dir ? [dir] : [dir, ...foldersAbove(above)]
}

const unique = <T>(items: readonly T[], key: (item: T) => string): T[] => [
  ...new Map(items.map((item) => [key(item), item])).values(),
]
