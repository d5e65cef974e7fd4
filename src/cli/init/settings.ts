/** The settings of the example watch: as a new file, or merged into an existing one. */
import { isMap, isScalar, parseDocument, stringify } from 'yaml'
import { usageError } from '../base/usage-error.ts'
import { TIER_PROMPTS } from './prompts.ts'

export interface Example {
  name: string
  workDir: string
  url: string
  container: string
  every: string
  hookSecret: string
}

export function exampleSettings(example: Example): string {
  const { name, every, workDir, hookSecret } = example
  const prompts = TIER_PROMPTS.map(({ tier, file, does }) => `  ${tier}: { promptFile: ${file} }   # ${does}`)
  return `# Checks on a schedule. \`reprise watch\` lists them.
watches:
  ${scalar(name)}:
    every: ${every}            # or cron: "*/30 * * * *", with timeZone
    workDir: ${scalar(workDir)}
    memory: fresh         # or persistent: continue the session of the previous cycle
    overlap: skip         # or queue: what to do when a cycle is due while another one is open
    maxTier: 3            # 1 observes, 2 restarts, 3 redeploys
    maxDuration: 1h       # of one cycle, including its follow-ups
    budgetUsd: 5
    notifyFrom: change    # notify when it breaks, is repaired or needs you; all: after every cycle
    # Others can send alerts to this watch with this secret, and nothing else.
    hookSecret: ${scalar(hookSecret)}
    prompt: |
${indent(promptOf(example), 6)}

# Models, tools and commands of the tiers have defaults; each key overrides one. Add approval: true to a tier that must
# wait for your approval. What no tier may do (policy.never, policy.protectedPaths) has defaults, too.
tiers:
${prompts.join('\n')}
`
}

function promptOf({ url, container }: Example): string {
  return `Check that ${url} answers, and that the container ${container} is healthy.
Healthy means: an HTTP status below 400 within 10 seconds; the container running, not restarting, not unhealthy; no
errors in its log of the last 30 minutes that people would notice.`
}

/** Quoted where YAML would read another type. */
const scalar = (text: string) => stringify(text, { lineWidth: 0 }).trimEnd()

const indent = (text: string, by: number) => text.replaceAll(/^/gm, ' '.repeat(by))

/** Whether the file contains nothing but comments. */
export function isEmptySettings(text: string): boolean {
  const document = parseDocument(text)
  return document.errors.length === 0 && document.toJS() == null
}

/** Keeps the existing settings and comments. A watch of the same name, and the prompts of the tiers, are replaced. */
export function addToSettings(text: string, example: Example, file: string): string {
  const document = parseDocument(text)
  const refuse = (why: string) => usageError(`${file} ${why}`, 'Correct it first; it was not changed.')
  if (document.errors[0] || !isMap(document.contents)) {
    throw refuse(`is not valid YAML: ${document.errors[0]?.message ?? 'expected a mapping'}`)
  }
  const added = parseDocument(exampleSettings(example)).toJS() as {
    watches: Record<string, unknown>
    tiers: Record<string, { promptFile: string }>
  }
  // A key without a value cannot be added to; and for the key 1 the YAML library would create a list.
  const makeMap = (path: unknown[]) => {
    const there = document.getIn(path, true)
    if (there === undefined || (isScalar(there) && there.value === null))
      document.setIn(path, document.createNode({}))
    else if (!isMap(there)) throw refuse(`has no mapping at ${path.join('.')}`)
  }
  makeMap(['watches'])
  makeMap(['tiers'])
  document.setIn(
    ['watches', keyIn(document.get('watches'), example.name) ?? example.name],
    document.createNode(added.watches[example.name]),
  )
  for (const [tier, { promptFile }] of Object.entries(added.tiers)) {
    const key = keyIn(document.get('tiers'), tier) ?? Number(tier)
    makeMap(['tiers', key])
    document.setIn(['tiers', key, 'promptFile'], promptFile)
  }
  return stringify(document)
}

/** The key as it is written in the file: YAML distinguishes 1 from "1". */
function keyIn(map: unknown, name: string): unknown {
  const keys = isMap(map) ? map.items.map(({ key }) => (isScalar(key) ? key.value : key)) : []
  return keys.find((key) => String(key) === name)
}
